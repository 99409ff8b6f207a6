import { type AvroCodecs, resolveBatch } from '@waypost/contracts';
import { groupBy } from '../../support/group-by.js';
import type { PlainDevice } from '../../support/plain-rules.js';
import { codecsOf, type LogRecord, readTopic } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import { compareByKey, compareValues } from './compare.js';
import { type Expected, expectedOf } from './expected.js';

export interface JudgeOptions extends Log {
  readonly fleetId: string;
  /** Records that the brokers have confirmed to the publisher. */
  readonly published: number;
}

export interface Judgement {
  readonly pings: number;
  readonly events: number;
  readonly rejections: number;
  readonly devices: number;
  /** Empty: the committed output is that of an undisturbed run. */
  readonly problems: readonly string[];
}

/** Compares everything that was committed with what the rules make of the input. */
export async function judge(options: JudgeOptions): Promise<Judgement> {
  const { published, fleetId } = options;
  const codecs = codecsOf(options);
  const problems: string[] = [];
  const [input, events, rejections, changelog] = await Promise.all(
    (['telemetryPings', 'fleetEvents', 'telemetryRejected', 'deviceState'] as const).map((topic) =>
      readTopic(options, topic, { problems, secondReader: true }),
    ),
  );
  if (!input || !events || !rejections || !changelog) throw new Error('Four topics were read.');
  if (input.length < published)
    problems.push(`the publisher was confirmed ${String(published)} records, the log holds ${String(input.length)}`);
  const expected = await expectedOf(input, codecs);
  problems.push(...(await judgeEvents(events, expected, codecs)));
  problems.push(...(await judgeRejections(rejections, expected, codecs)));
  const states = await foldedStates(changelog, codecs);
  const wanted = expectedStates(expected.outcome.devices, fleetId, expected.partitionOf);
  problems.push(...compareValues('state', states, wanted));
  return {
    pings: input.length,
    events: events.length,
    rejections: rejections.length,
    devices: states.size,
    problems,
  };
}

/** By device and in the order of the log; an event in a foreign partition counts as unexpected. */
async function judgeEvents(log: readonly LogRecord[], expected: Expected, codecs: AvroCodecs): Promise<string[]> {
  await resolveBatch(codecs.fleetEvents, log);
  const lines = (events: readonly { deviceId: string; line: string }[]): Map<string, string[]> =>
    new Map([...groupBy(events, ({ deviceId }) => deviceId)].map(([id, group]) => [id, group.map(({ line }) => line)]));
  const actual = log.map(({ partition, key, value }) => {
    const decoded = codecs.fleetEvents.decode(value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') return { deviceId: key?.toString() ?? '', line: decoded.type };
    const { deviceId, eventType, eventTime } = decoded.value;
    return { deviceId, line: eventLine(partition, eventType, new Date(eventTime).toISOString()) };
  });
  const wanted = expected.outcome.events.map(({ deviceId, eventType, eventTime }) => ({
    deviceId,
    line: eventLine(expected.partitionOf.get(deviceId) ?? -1, eventType, eventTime),
  }));
  return compareByKey('events', lines(actual), lines(wanted));
}

async function judgeRejections(log: readonly LogRecord[], expected: Expected, codecs: AvroCodecs): Promise<string[]> {
  await resolveBatch(codecs.telemetryRejected, log);
  const actual = log.map(({ partition, value }) => {
    const decoded = codecs.telemetryRejected.decode(value ?? Buffer.alloc(0));
    if (decoded.type !== 'decoded') return { partition, line: decoded.type };
    const { sourcePartition, sourceOffset, reason } = decoded.value;
    return { partition, line: `${String(sourcePartition)}/${String(sourceOffset)} ${reason}` };
  });
  const wanted = expected.rejections.map(({ partition, offset, reason }) => ({
    partition,
    line: `${String(partition)}/${String(offset)} ${reason}`,
  }));
  const lines = (list: readonly { partition: number; line: string }[]): Map<string, string[]> =>
    new Map(
      [...groupBy(list, (one) => String(one.partition))].map(([name, group]) => [name, group.map((g) => g.line)]),
    );
  return compareByKey('rejections in partition', lines(actual), lines(wanted));
}

function eventLine(partition: number, type: string, time: string): string {
  return `${type} ${time} in ${String(partition)}`;
}

/** The changelog folded to its end: the last value of each key, in one line each. */
export async function foldedStates(changelog: readonly LogRecord[], codecs: AvroCodecs): Promise<Map<string, string>> {
  await resolveBatch(codecs.deviceState, changelog);
  const last = new Map<string, LogRecord>();
  for (const record of changelog) last.set(record.key?.toString() ?? '', record);
  const states = new Map<string, string>();
  for (const [key, { partition, value }] of last) {
    if (value === null) continue;
    const decoded = codecs.deviceState.decode(value);
    if (decoded.type !== 'decoded') {
      states.set(key, decoded.type);
      continue;
    }
    const { newestEventTime, ignition, lastSentTime, armed, ...fix } = decoded.value;
    const place = fix.fixTime === null ? null : { time: fix.fixTime, latitude: fix.latitude, longitude: fix.longitude };
    states.set(key, stateLine(partition, [newestEventTime, ignition, lastSentTime, armed, place]));
  }
  return states;
}

export function expectedStates(
  devices: ReadonlyMap<string, PlainDevice>,
  fleetId: string,
  partitionOf: ReadonlyMap<string, number>,
): Map<string, string> {
  const states = new Map<string, string>();
  for (const [deviceId, { newest, ignition, lastSent, armed, fix }] of devices) {
    const values = [newest, ignition ?? null, lastSent ?? null, armed, fix ?? null];
    states.set(`${fleetId}\u001f${deviceId}`, stateLine(partitionOf.get(deviceId) ?? -1, values));
  }
  return states;
}

function stateLine(partition: number, values: readonly unknown[]): string {
  return `partition ${String(partition)}: ${JSON.stringify(values)}`;
}
