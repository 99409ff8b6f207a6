import { resultLine } from '../../shared/report/number-text.js';
import { medianOf } from '../../shared/statistics.js';
import { type Answer, isSameAnswer } from '../answer.js';
import type { BenchResults } from '../measure-all.js';
import { type DrainRun, perCpuSecond, perSecond } from '../scenarios/drain.js';
import { devicesPerSecond } from '../scenarios/restore.js';
import type { Configuration, RulesAtWork } from '../sides/deployment.js';

type Side = Configuration['side'];

/** One figure of both sides, each in its best configuration for it; null: not measured. */
export interface Pair {
  readonly ours: number | null;
  readonly theirs: number | null;
}

/** null: not measured. */
export type Figures = ReturnType<typeof figuresOf>;

export function figuresOf(results: BenchResults) {
  const { drain, latency, restore, failover } = results;
  const restarts = failover.filter(({ kind }) => kind === 'restart');
  const takeovers = failover.filter(({ kind }) => kind === 'takeover');
  const sizes = [...new Set(restore.map(({ devices }) => devices))].sort((a, b) => a - b);
  return {
    // null: nothing has drained the backlog.
    sameAnswer: sameAnswerOf(results),
    recordsPerSecond: most(drain, perSecond),
    streamingPerSecond: most(drain, (run) => run.streamingPerSecond),
    recordsPerCpuSecond: most(drain, perCpuSecond),
    peakMiB: least(drain, (run) => run.peakMiB),
    latencyP50Ms: least(latency, (run) => run.p50Ms),
    latencyP99Ms: least(latency, (run) => run.p99Ms),
    // By size of the state, the smallest first.
    restore: sizes.map((devices) => {
      const runs = restore.filter((run) => run.devices === devices);
      return {
        devices,
        devicesPerSecond: most(runs, devicesPerSecond),
        firstEventMs: least(runs, (run) => run.firstEventMs),
        allPartitionsMs: least(runs, (run) => run.allPartitionsMs),
      };
    }),
    restartMs: least(restarts, (run) => run.allPartitionsMs),
    restartFirstCommitMs: least(restarts, (run) => run.firstCommitMs),
    takeoverMs: least(takeovers, (run) => run.allPartitionsMs),
    rules: rulesOf(results),
  };
}

/** Ours to theirs; null unless both were measured. */
export function ratioOf({ ours, theirs }: Pair): number | null {
  return ours === null || theirs === null || theirs === 0 ? null : ours / theirs;
}

/** Runs by configuration, in the order in which they first came. */
export function byConfiguration<T extends { readonly configuration: Configuration }>(runs: readonly T[]): T[][] {
  const labels = [...new Set(runs.map(({ configuration }) => configuration.label))];
  return labels.map((label) => runs.filter(({ configuration }) => configuration.label === label));
}

/** All rules, each in its best configuration, to no geofences and routes (unasked), and to positions and ignition only. */
function rulesOf({ rules }: BenchResults) {
  const ofUnasked = speedRatio(rules, 'unasked');
  const ofPositions = speedRatio(rules, 'positions');
  return ofUnasked === null || ofPositions === null ? null : { ofUnasked, ofPositions };
}

function speedRatio(runs: readonly DrainRun[], others: RulesAtWork) {
  const ratio = (valueOf: (run: DrainRun) => number): number | null =>
    ratioOf({ ours: most(runsOf(runs, 'all'), valueOf).ours, theirs: most(runsOf(runs, others), valueOf).ours });
  const [recordsPerSecond, recordsPerCpuSecond] = [ratio(perSecond), ratio(perCpuSecond)];
  return recordsPerSecond === null || recordsPerCpuSecond === null ? null : { recordsPerSecond, recordsPerCpuSecond };
}

function runsOf(runs: readonly DrainRun[], rules: RulesAtWork): DrainRun[] {
  return runs.filter(({ configuration }) => configuration.side === 'ours' && configuration.rules === rules);
}

function sameAnswerOf({ expected, drain, failover, rules, rulesExpected }: BenchResults): boolean | null {
  const isSame = (answer: Answer | null, runs: readonly { readonly answer: Answer }[]): boolean[] =>
    answer === null || runs.length === 0
      ? []
      : [
          isSameAnswer(
            answer,
            runs.map((run) => run.answer),
          ),
        ];
  const sameRules = [...runsOf(rules, 'positions'), ...runsOf(rules, 'unasked')];
  const found = [...isSame(expected, [...drain, ...failover]), ...isSame(rulesExpected, sameRules)];
  return found.length === 0 ? null : found.every((same) => same);
}

type Run = { readonly configuration: Configuration };

type Best = (...values: number[]) => number;

function most<T extends Run>(runs: readonly T[], valueOf: (run: T) => number, best: Best = Math.max): Pair {
  /** The best of the medians of a side's configurations. */
  const bestOf = (side: Side): number | null => {
    const ofSide = byConfiguration(runs.filter(({ configuration }) => configuration.side === side));
    return ofSide.length === 0 ? null : best(...ofSide.map((same) => medianOf(same.map(valueOf))));
  };
  return { ours: bestOf('ours'), theirs: bestOf('theirs') };
}

function least<T extends Run>(runs: readonly T[], valueOf: (run: T) => number): Pair {
  return most(runs, valueOf, Math.min);
}

/** The machine-readable result: ratios are ours to theirs, null what was not measured. */
export function jsonLine(results: BenchResults): string {
  const figures = figuresOf(results);
  const { latencyP50Ms, latencyP99Ms, restartMs, takeoverMs, recordsPerSecond, rules } = figures;
  const [smallest, largest] = [figures.restore[0], figures.restore.at(-1)];
  const ratios = {
    wallRatio: ratioOf(recordsPerSecond),
    cpuRatio: ratioOf(figures.recordsPerCpuSecond),
    memoryRatio: ratioOf(figures.peakMiB),
    restoreRatio: largest ? ratioOf(largest.devicesPerSecond) : null,
    streamingRatio: ratioOf(figures.streamingPerSecond),
    smallestRestoreRatio: smallest ? ratioOf(smallest.devicesPerSecond) : null,
    rulesRatio: rules?.ofUnasked.recordsPerSecond ?? null,
    rulesCpuRatio: rules?.ofUnasked.recordsPerCpuSecond ?? null,
    rulesToPositionsRatio: rules?.ofPositions.recordsPerSecond ?? null,
    rulesToPositionsCpuRatio: rules?.ofPositions.recordsPerCpuSecond ?? null,
  };
  const latencies = {
    latencyP50Ms: latencyP50Ms.ours,
    latencyP99Ms: latencyP99Ms.ours,
    theirLatencyP50Ms: latencyP50Ms.theirs,
    theirLatencyP99Ms: latencyP99Ms.theirs,
  };
  const whole = {
    failoverMs: restartMs.ours,
    takeoverMs: takeoverMs.ours,
    theirFailoverMs: restartMs.theirs,
    theirTakeoverMs: takeoverMs.theirs,
    recordsPerSecond: recordsPerSecond.ours,
    theirRecordsPerSecond: recordsPerSecond.theirs,
    restoredDevicesPerSecond: largest?.devicesPerSecond.ours ?? null,
    ...results.backlog,
    restoreDevices: largest?.devices ?? null,
    rounds: results.rounds,
  };
  const decimals = Object.fromEntries([
    ...Object.keys(ratios).map((name) => [name, 3] as const),
    ...Object.keys(latencies).map((name) => [name, 1] as const),
  ]);
  return resultLine('processor', { sameAnswer: figures.sameAnswer, ...ratios, ...latencies, ...whole }, decimals);
}
