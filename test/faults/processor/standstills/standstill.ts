import { readFile } from 'node:fs/promises';
import { consumerGroups, topics } from '@waypost/contracts';
import { createInstances, type Instances, type InstanceTask } from '@waypost/platform/without-nest';
import type { KafkaSettings } from '@waypost/streams';
import { connectKafka } from '@waypost/streams/admin';
import { until } from '../../../support/until.js';
import type { SuiteContext } from '../../shared/fault-suite.js';
import { PARTITIONS } from '../../shared/stage.js';
import type { Judgment } from '../judge.js';
import { committedPosition } from '../progress.js';
import type { Stage } from '../stage.js';
import { startTraffic, type Traffic } from '../traffic.js';

/** What has come of a case in which a processor must not go on by itself. */
export interface Standstill extends Partial<Judgment> {
  readonly problems: readonly string[];
  /** From the change until the processors had noticed it. */
  readonly noticedAfterMs?: number;
}

type Admin = ReturnType<ReturnType<typeof connectKafka>['admin']>;

/** The processors that run. */
export const INSTANCES = [0, 1];
const GROUP = consumerGroups.telemetryProcessor.id;
const LEAST_COMMITTED = 2_000;
/** A guard against hanging: the machine may be busy. */
export const WAIT = { timeoutMs: 120_000 };
const MORE_PINGS = 600;

/** Two processors with traffic, all partitions of which have state by now. */
export async function startUnderLoad({ seed }: SuiteContext, stage: Stage): Promise<Traffic> {
  const { kafka, registryUrl } = stage;
  await stage.start(INSTANCES);
  const traffic = await startTraffic({
    kafka,
    registryUrl,
    fleetId: 'standstill',
    otherFleetId: 'other-standstill',
    seed,
    vehicles: 240,
    pingsPerSecond: 400,
  });
  await until(async () => ((await committedPosition(kafka)) ?? 0) > LEAST_COMMITTED, WAIT);
  return traffic;
}

export function stopProcessors({ processors }: Stage): Promise<unknown> {
  return Promise.all(processors.filter(({ up }) => up).map((processor) => processor.stop()));
}

/** Resolves when the brokers have confirmed some seconds' more pings. */
export async function untilMorePings(traffic: Traffic): Promise<void> {
  const before = traffic.published();
  await until(() => traffic.published() >= before + MORE_PINGS, WAIT);
}

export async function withAdmin<T>(kafka: KafkaSettings, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = connectKafka(kafka).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Where the log of each partition ends, markers included. */
export function endsOf(kafka: KafkaSettings, topic: string): Promise<Map<number, number>> {
  return withAdmin(kafka, async (admin) => {
    const offsets = await admin.fetchTopicOffsets(topic);
    return new Map(offsets.map(({ partition, high }) => [partition, Number(high)]));
  });
}

export function instancesOf({ processors }: Stage): Instances {
  return createInstances(processors.filter(({ up }) => up).map((processor) => processor.adminUrl()));
}

/** Continues a parked partition from there. Returns what is wrong: a partition that is not parked refuses. */
export async function seek(stage: Stage, partition: number, offset: number): Promise<string[]> {
  const outcome = await instancesOf(stage).command(`${GROUP}:${String(partition)}`, {
    name: 'seek',
    position: String(offset),
  });
  if (outcome.type === 'done') return [];
  return [`partition ${String(partition)} does not continue on command: ${JSON.stringify(outcome)}`];
}

/** What is wrong with the expectation that these partitions park with this code and commit no output meanwhile; traffic flows. */
export async function expectParked(
  stage: Stage,
  traffic: Traffic,
  { code, partitions }: { readonly code: string; readonly partitions: readonly number[] },
): Promise<string[]> {
  const { kafka } = stage;
  const before = await endsOf(kafka, topics.fleetEvents.name);
  await stage.start(INSTANCES);
  const isSettled = ({ state }: InstanceTask): boolean => state === 'running' || state === 'parked';
  const tasks = await until(async () => {
    const found = (await instancesOf(stage).tasks()).tasks;
    return found.length === PARTITIONS && found.every(isSettled) && found;
  }, WAIT);
  await untilMorePings(traffic);
  const after = await endsOf(kafka, topics.fleetEvents.name);
  return partitions.flatMap((partition) => {
    const task = tasks.find((one) => one.partition === partition);
    const isParked = task?.parked?.code === code;
    const how = task?.parked?.code ?? task?.state ?? 'without a task';
    const grew = (after.get(partition) ?? 0) - (before.get(partition) ?? 0);
    return [
      ...(isParked ? [] : [`partition ${String(partition)} should be parked with ${code} and is ${how}`]),
      ...(grew === 0
        ? []
        : [`partition ${String(partition)} has ${String(grew)} more events, although it cannot go on`]),
    ];
  });
}

/** Resolves when the log of an instance has an event with this text in it. */
export async function untilLogged(logFile: string, event: string, text: string): Promise<void> {
  await until(async () => {
    const lines = (await readFile(logFile, 'utf8')).split('\n');
    return lines.some((line) => line.includes(`"event":"${event}"`) && line.includes(text));
  }, WAIT);
}
