import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchProcess } from '../../shared/processes/bench-process.js';
import { type Answer, answerText } from '../answer.js';
import type { BenchContext } from '../bench-context.js';
import { anyFailure, type Configuration, type Deployment, measureWithAnswer } from '../sides/deployment.js';
import { type GroupProgress, type GroupWatch, watchGroup } from '../stack/bench-groups.js';
import { INPUT } from '../stack/bench-topics.js';

/** A process killed in the middle of the backlog. */
export interface FailoverRun {
  readonly configuration: Configuration;
  /** restart: the same process again, at once. takeover: another process that was running takes the work over. */
  readonly kind: 'restart' | 'takeover';
  /** To the first commit of any partition; from the start of the new process, or from the kill in a takeover. */
  readonly firstCommitMs: number;
  /** To a commit in every partition that has work left. */
  readonly allPartitionsMs: number;
  readonly answer: Answer;
}

const SHARE_DONE = 0.5;
/** A dead member keeps its partitions until its session ends. */
const LEAST_TAKEOVER_MS = 2_000;
/** A commit that was under way at the kill may still come to its end, and is none of the successor's. */
const SETTLE_MS = 150;

export async function failoverOnce(
  context: BenchContext,
  configuration: Configuration,
  kind: FailoverRun['kind'],
): Promise<FailoverRun> {
  return context.reporter.during(`${kind} of ${configuration.label}`, async () => {
    const run = await measureWithAnswer(context, configuration, async (deployment) => ({
      kind,
      ...(await killAndMeasure(context, deployment, kind)),
    }));
    context.reporter.note(failoverText(run));
    refuseVoid(run);
    return run;
  });
}

async function killAndMeasure(
  context: BenchContext,
  deployment: Deployment,
  kind: FailoverRun['kind'],
): Promise<Pick<FailoverRun, 'firstCommitMs' | 'allPartitionsMs'>> {
  const { admin, now } = context;
  const watch = await watchGroup(admin, deployment.groupId, INPUT, now);
  const processes = await deployment.startAll();
  const running = new Set(processes);
  const [victim] = processes;
  try {
    if (victim === undefined) throw new Error('There is nothing to kill.');
    const signal = anyFailure(context, processes);
    await context.groups.untilStable(deployment.groupId, processes.length);
    await watch.until(({ done }) => done >= watch.total * SHARE_DONE, { signal });
    const killedAtMs = now();
    await victim.kill();
    running.delete(victim);
    await sleep(SETTLE_MS);
    const before = await watch.read();
    const startedAtMs = kind === 'restart' ? now() : killedAtMs;
    if (kind === 'restart') running.add(await deployment.start(0));
    return await timesSince({ watch, before, startedAtMs, signal: anyFailure(context, [...running]) });
  } finally {
    await Promise.all([...running].map((process_: BenchProcess) => process_.stop()));
  }
}

/** @throws when the process that was killed had no partition with work left, so that nothing was taken over */
export function refuseVoid({ kind, allPartitionsMs }: Pick<FailoverRun, 'kind' | 'allPartitionsMs'>): void {
  if (kind === 'takeover' && allPartitionsMs < LEAST_TAKEOVER_MS)
    throw new Error(
      `Every partition went on ${String(allPartitionsMs)} ms after the kill: the process that was killed had none of them.`,
    );
}

interface Since {
  readonly watch: GroupWatch;
  readonly before: GroupProgress;
  readonly startedAtMs: number;
  readonly signal: AbortSignal;
}

/** Also waits until everything is done, so that the answer can be read. */
async function timesSince({ watch, before, startedAtMs, signal }: Since) {
  const unfinished = [...watch.ends].filter(([partition, end]) => offsetOf(before, partition) < end);
  if (unfinished.length === 0) throw new Error('The backlog is too small: it was done before the kill.');
  const moved = (progress: GroupProgress) =>
    unfinished.filter(([partition]) => offsetOf(progress, partition) > offsetOf(before, partition));
  const first = await watch.until((progress) => moved(progress).length > 0, { signal });
  const all = await watch.until((progress) => moved(progress).length === unfinished.length, { signal });
  await watch.until(({ left }) => left === 0, { signal });
  return { firstCommitMs: first.atMs - startedAtMs, allPartitionsMs: all.atMs - startedAtMs };
}

function offsetOf({ offsets }: GroupProgress, partition: number): number {
  return offsets.get(partition) ?? 0;
}

function failoverText({ configuration, kind, firstCommitMs, allPartitionsMs, answer }: FailoverRun): string {
  const times = `first commit after ${String(firstCommitMs)} ms, every partition after ${String(allPartitionsMs)} ms`;
  return `  ${kind} of ${configuration.label}: ${times}; ${answerText(answer)}`;
}
