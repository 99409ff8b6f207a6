import { settleOrAbort } from '@waypost/streams/admin';
import type { BenchProcess } from '../../shared/processes/bench-process.js';
import type { BenchContext } from '../bench-context.js';
import { anyFailure, type Configuration, createDeployment, type Deployment } from '../sides/deployment.js';
import { watchGroup } from '../stack/bench-groups.js';
import { INPUT } from '../stack/bench-topics.js';
import { loadPings } from './backlog.js';

/** A start on a changelog of many devices, with nothing kept on the machine. */
export interface RestoreRun {
  readonly configuration: Configuration;
  readonly devices: number;
  /** From the start of the process to the first event that a consumer gets. */
  readonly firstEventMs: number;
  /** To the commit of a new ping in every partition: all state is back. */
  readonly allPartitionsMs: number;
  /** What the log calls restoring, start of the process and joining of the group left out; null: it does not say. */
  readonly restoreWorkMs: number | null;
}

/** New pings before each start: enough for events in every partition. */
const NEW_PINGS = 100;
/** Between the pings of a device, in sequence numbers of ten seconds: a position is due each time. */
const SEQUENCE_STEP = 100;

export function devicesPerSecond({ devices, allPartitionsMs }: RestoreRun): number {
  return devices / (allPartitionsMs / 1000);
}

/** One ping for each device, taken by every configuration; then each starts again with new pings, in turn. */
export async function measureRestore(
  context: BenchContext,
  configurations: readonly Configuration[],
  { devices, rounds }: { readonly devices: number; readonly rounds: number },
): Promise<RestoreRun[]> {
  const { topics, reporter } = context;
  await topics.freshInput();
  await topics.freshOutputs();
  await reporter.during(`Loading a ping of each of ${String(devices)} devices`, () =>
    loadPings(context, { from: 0, pings: devices, devices }),
  );
  const deployments = configurations.map((configuration) => createDeployment(context, configuration));
  for (const deployment of deployments) await deployment.clear();
  for (const deployment of deployments) {
    await reporter.during(`  ${deployment.configuration.label} takes them`, () => takeAll(context, deployment));
  }
  const runs: RestoreRun[] = [];
  for (let start = 0; start < rounds * deployments.length; start += 1) {
    // Again each time: configurations of one side share a group, and the first would leave nothing to the second.
    await loadPings(context, { from: devices * SEQUENCE_STEP * (start + 1), pings: NEW_PINGS, devices });
    const deployment = deployments[start % deployments.length];
    if (deployment) runs.push(await restoreOnce(context, deployment, devices));
  }
  for (const deployment of deployments) await deployment.clear();
  return runs;
}

async function takeAll(context: BenchContext, deployment: Deployment): Promise<void> {
  const watch = await watchGroup(context.admin, deployment.groupId, INPUT, context.now);
  const processes = await deployment.startAll();
  try {
    await watch.until(({ left }) => left === 0, { signal: anyFailure(context, processes) });
  } finally {
    await Promise.all(processes.map((process_) => process_.stop()));
  }
}

async function restoreOnce(context: BenchContext, deployment: Deployment, devices: number): Promise<RestoreRun> {
  const { configuration, groupId } = deployment;
  const { groups, reporter, programs } = context;
  return reporter.during(`Restore of ${String(devices)} devices, ${configuration.label}`, async () => {
    await groups.untilEmpty(groupId);
    await deployment.wipe();
    const reader = programs.start('Drain', ['first']);
    await reader.line(/following/);
    const startedAtMs = context.now();
    const processes = await deployment.startAll();
    try {
      const times = await settleOrAbort(
        timesOf(context, groupId, processes, reader.line(/first \d/)),
        anyFailure(context, processes),
      );
      const run = {
        configuration,
        devices,
        firstEventMs: times.firstMs - startedAtMs,
        allPartitionsMs: times.allMs - startedAtMs,
        restoreWorkMs: restoreWorkMs(configuration.side, (await processes[0]?.log()) ?? ''),
      };
      reporter.note(restoreText(run));
      return run;
    } finally {
      reader.stop();
      await Promise.all(processes.map((process_) => process_.stop()));
    }
  });
}

async function timesOf(
  context: BenchContext,
  groupId: string,
  processes: readonly BenchProcess[],
  firstLine: Promise<string>,
): Promise<{ firstMs: number; allMs: number }> {
  const watch = await watchGroup(context.admin, groupId, INPUT, context.now);
  const [line, all] = await Promise.all([
    firstLine,
    watch.until(({ left }) => left === 0, { signal: anyFailure(context, processes) }),
  ]);
  return { firstMs: Number(/first (\d+)/.exec(line)?.[1]), allMs: all.atMs };
}

function restoreText({ configuration, firstEventMs, allPartitionsMs, restoreWorkMs }: RestoreRun): string {
  const work = restoreWorkMs === null ? '' : `, restoring ${String(restoreWorkMs)} ms of it`;
  return `  ${configuration.label}: first event ${String(firstEventMs)} ms after the start, all partitions ${String(allPartitionsMs)} ms${work}`;
}

/** From the first beginning to the last end of a restore, by the log of a process; null when it has none. */
export function restoreWorkMs(side: Configuration['side'], log: string): number | null {
  const spans = log.split('\n').flatMap((line) => (side === 'ours' ? ourSpan(line) : theirSpan(line)));
  if (spans.length === 0) return null;
  return Math.max(...spans.map(({ endMs }) => endMs)) - Math.min(...spans.map(({ startMs }) => startMs));
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** A JSON line with the time of the end and the duration. */
function ourSpan(line: string): Span[] {
  if (!line.includes('store_restored')) return [];
  const { time, durationMs } = JSON.parse(line) as { time?: unknown; durationMs?: unknown };
  const endMs = typeof time === 'string' ? Date.parse(time) : Number(time);
  if (!Number.isFinite(endMs) || typeof durationMs !== 'number') return [];
  return [{ startMs: endMs - durationMs, endMs }];
}

/** `UPTIME ms restoring TOPIC-PARTITION`, and the same with `restored COUNT from`. */
function theirSpan(line: string): Span[] {
  const [, uptime] = /^(\d+) ms restor(?:ing|ed) /.exec(line) ?? [];
  return uptime === undefined ? [] : [{ startMs: Number(uptime), endMs: Number(uptime) }];
}
