import type { BenchResults } from '../bench-results.js';
import { figuresOf, ratioOf } from './figures.js';

/** The machine-readable result: ratios are ours to theirs, null what was not measured. */
export function jsonLine(results: BenchResults): string {
  const figures = figuresOf(results);
  const largest = figures.restore.at(-1);
  const smallest = figures.restore[0];
  return JSON.stringify({
    bench: 'processor',
    sameAnswer: figures.sameAnswer,
    wallRatio: rounded(ratioOf(figures.recordsPerSecond), 3),
    cpuRatio: rounded(ratioOf(figures.recordsPerCpuSecond), 3),
    memoryRatio: rounded(ratioOf(figures.peakMiB), 3),
    latencyP99Ms: rounded(figures.latencyP99Ms.ours, 1),
    restoreRatio: rounded(largest ? ratioOf(largest.devicesPerSecond) : null, 3),
    failoverMs: rounded(figures.restartMs.ours, 0),
    takeoverMs: rounded(figures.takeoverMs.ours, 0),
    streamingRatio: rounded(ratioOf(figures.streamingPerSecond), 3),
    smallestRestoreRatio: rounded(smallest ? ratioOf(smallest.devicesPerSecond) : null, 3),
    latencyP50Ms: rounded(figures.latencyP50Ms.ours, 1),
    theirLatencyP50Ms: rounded(figures.latencyP50Ms.theirs, 1),
    theirLatencyP99Ms: rounded(figures.latencyP99Ms.theirs, 1),
    theirFailoverMs: rounded(figures.restartMs.theirs, 0),
    theirTakeoverMs: rounded(figures.takeoverMs.theirs, 0),
    rulesRatio: rounded(figures.rules?.ofUnasked.recordsPerSecond ?? null, 3),
    rulesCpuRatio: rounded(figures.rules?.ofUnasked.recordsPerCpuSecond ?? null, 3),
    rulesToPositionsRatio: rounded(figures.rules?.ofPositions.recordsPerSecond ?? null, 3),
    rulesToPositionsCpuRatio: rounded(figures.rules?.ofPositions.recordsPerCpuSecond ?? null, 3),
    recordsPerSecond: rounded(figures.recordsPerSecond.ours, 0),
    theirRecordsPerSecond: rounded(figures.recordsPerSecond.theirs, 0),
    restoredDevicesPerSecond: rounded(largest?.devicesPerSecond.ours ?? null, 0),
    pings: results.backlog.pings,
    devices: results.backlog.devices,
    restoreDevices: largest?.devices ?? null,
    rounds: results.rounds,
  });
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}
