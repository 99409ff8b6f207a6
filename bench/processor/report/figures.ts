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

export interface Figures {
  /** null: nothing has drained the backlog. */
  readonly sameAnswer: boolean | null;
  readonly recordsPerSecond: Pair;
  readonly streamingPerSecond: Pair;
  readonly recordsPerCpuSecond: Pair;
  readonly peakMiB: Pair;
  readonly latencyP50Ms: Pair;
  readonly latencyP99Ms: Pair;
  /** By size of the state, the smallest first. */
  readonly restore: readonly RestoreFigures[];
  readonly restartMs: Pair;
  readonly restartFirstCommitMs: Pair;
  readonly takeoverMs: Pair;
  /** null: not measured. */
  readonly rules: RulesFigures | null;
}

/** What is left with all rules at work, each in its best configuration. */
export interface RulesFigures {
  /** Of what there is while no fleet has a geofence or routes. */
  readonly ofUnasked: SpeedRatio;
  /** Of positions and ignition only, where nothing else is looked at. */
  readonly ofPositions: SpeedRatio;
}

export interface SpeedRatio {
  readonly recordsPerSecond: number;
  readonly recordsPerCpuSecond: number;
}

export interface RestoreFigures {
  readonly devices: number;
  readonly devicesPerSecond: Pair;
  readonly firstEventMs: Pair;
  readonly allPartitionsMs: Pair;
}

export function figuresOf(results: BenchResults): Figures {
  const { drain, latency, restore, failover } = results;
  const restarts = failover.filter(({ kind }) => kind === 'restart');
  const takeovers = failover.filter(({ kind }) => kind === 'takeover');
  const sizes = [...new Set(restore.map(({ devices }) => devices))].sort((a, b) => a - b);
  return {
    sameAnswer: sameAnswerOf(results),
    recordsPerSecond: most(drain, perSecond),
    streamingPerSecond: most(drain, (run) => run.streamingPerSecond),
    recordsPerCpuSecond: most(drain, perCpuSecond),
    peakMiB: least(drain, (run) => run.peakMiB),
    latencyP50Ms: least(latency, (run) => run.p50Ms),
    latencyP99Ms: least(latency, (run) => run.p99Ms),
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

function rulesOf({ rules }: BenchResults): RulesFigures | null {
  const ofUnasked = speedRatio(rules, 'unasked');
  const ofPositions = speedRatio(rules, 'positions');
  return ofUnasked === null || ofPositions === null ? null : { ofUnasked, ofPositions };
}

/** Of all rules to other ones. */
function speedRatio(runs: readonly DrainRun[], others: RulesAtWork): SpeedRatio | null {
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
    answer === null || runs.length === 0 ? [] : [isSameAnswer(answer, answersOf(runs))];
  const sameRules = [...runsOf(rules, 'positions'), ...runsOf(rules, 'unasked')];
  const found = [...isSame(expected, [...drain, ...failover]), ...isSame(rulesExpected, sameRules)];
  return found.length === 0 ? null : found.every((same) => same);
}

function answersOf(runs: readonly { readonly answer: Answer }[]): Answer[] {
  return runs.map(({ answer }) => answer);
}

type Run = { readonly configuration: Configuration };

function most<T extends Run>(runs: readonly T[], valueOf: (run: T) => number): Pair {
  return { ours: pick(runs, 'ours', valueOf, Math.max), theirs: pick(runs, 'theirs', valueOf, Math.max) };
}

function least<T extends Run>(runs: readonly T[], valueOf: (run: T) => number): Pair {
  return { ours: pick(runs, 'ours', valueOf, Math.min), theirs: pick(runs, 'theirs', valueOf, Math.min) };
}

/** The best of the medians of a side's configurations. */
function pick<T extends Run>(
  runs: readonly T[],
  side: Side,
  valueOf: (run: T) => number,
  best: (...values: number[]) => number,
): number | null {
  const medians = byConfiguration(runs.filter(({ configuration }) => configuration.side === side)).map((same) =>
    medianOf(same.map(valueOf)),
  );
  return medians.length === 0 ? null : best(...medians);
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
    ...{ failoverMs: restartMs.ours, takeoverMs: takeoverMs.ours },
    ...{ theirFailoverMs: restartMs.theirs, theirTakeoverMs: takeoverMs.theirs },
    ...{ recordsPerSecond: recordsPerSecond.ours, theirRecordsPerSecond: recordsPerSecond.theirs },
    restoredDevicesPerSecond: largest?.devicesPerSecond.ours ?? null,
    ...results.backlog,
    restoreDevices: largest?.devices ?? null,
    rounds: results.rounds,
  };
  const decimals = { ...sameFor(Object.keys(ratios), 3), ...sameFor(Object.keys(latencies), 1) };
  return resultLine('processor', { sameAnswer: figures.sameAnswer, ...ratios, ...latencies, ...whole }, decimals);
}

function sameFor(names: readonly string[], decimals: number): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, decimals]));
}
