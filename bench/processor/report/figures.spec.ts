import { describe, expect, it } from '@jest/globals';
import { type Configuration, ours, theirs } from '../sides/deployment.js';
import { jsonLine } from './figures.js';
import { drainRun, emptyResults, failoverRun, latencyRun, restoreRun } from './testing/runs.js';

function parsed(line: string): unknown {
  return JSON.parse(line);
}

describe('The JSON line', () => {
  it('has every ratio as ours to theirs, each side by the best median of its configurations', () => {
    const drained = (configuration: Configuration, seconds: number, cpuSeconds: number, peakMiB: number) =>
      drainRun({ configuration, records: 1_000, seconds, cpuSeconds, peakMiB });
    const line = jsonLine({
      ...emptyResults,
      drain: [
        drained(ours(1), 2, 4, 300),
        drained(ours(2), 1, 5, 500),
        drained(theirs(1), 4, 8, 400),
        drained(theirs(2), 3, 10, 600),
      ],
    });
    expect(parsed(line)).toMatchObject({ bench: 'processor', wallRatio: 3, cpuRatio: 2, memoryRatio: 0.75 });
  });

  it('takes medians over the rounds, so that one disturbed round decides nothing', () => {
    const seconds = [1, 1, 50];
    const drain = seconds.flatMap((ourSeconds) => [
      drainRun({ configuration: ours(1), records: 100, seconds: ourSeconds }),
      drainRun({ configuration: theirs(1), records: 100, seconds: 2 }),
    ]);
    expect(parsed(jsonLine({ ...emptyResults, drain }))).toMatchObject({ wallRatio: 2 });
  });

  it('has the restore of the largest state as devices a second', () => {
    const restored = (configuration: Configuration, devices: number, allPartitionsMs: number) =>
      restoreRun({ configuration, devices, allPartitionsMs });
    const restore = [
      restored(ours(1), 2_000, 1_000),
      restored(theirs(1), 2_000, 4_000),
      restored(ours(1), 100, 500),
      restored(theirs(1), 100, 500),
    ];
    expect(parsed(jsonLine({ ...emptyResults, restore }))).toMatchObject({
      restoreRatio: 4,
      smallestRestoreRatio: 1,
      restoreDevices: 2_000,
    });
  });

  it('keeps a restart and a takeover apart', () => {
    const failover = [
      failoverRun({ configuration: ours(1), kind: 'restart', allPartitionsMs: 900 }),
      failoverRun({ configuration: ours(2), kind: 'takeover', allPartitionsMs: 7_000 }),
      failoverRun({ configuration: theirs(1), kind: 'restart', allPartitionsMs: 6_000 }),
    ];
    expect(parsed(jsonLine({ ...emptyResults, failover }))).toMatchObject({
      failoverMs: 900,
      takeoverMs: 7_000,
      theirFailoverMs: 6_000,
      theirTakeoverMs: null,
    });
  });

  it('gives both latencies', () => {
    const latency = [
      latencyRun({ configuration: ours(1), p50Ms: 10, p99Ms: 21.5 }),
      latencyRun({ configuration: theirs(1), p50Ms: 20, p99Ms: 56 }),
    ];
    expect(parsed(jsonLine({ ...emptyResults, latency }))).toMatchObject({ latencyP99Ms: 21.5, theirLatencyP99Ms: 56 });
  });

  it('says null of everything that was not measured', () => {
    expect(parsed(jsonLine(emptyResults))).toMatchObject({
      sameAnswer: null,
      wallRatio: null,
      cpuRatio: null,
      memoryRatio: null,
      latencyP99Ms: null,
      restoreRatio: null,
      failoverMs: null,
    });
  });

  it('has no ratio when only one side was measured', () => {
    expect(parsed(jsonLine({ ...emptyResults, drain: [drainRun({ configuration: ours(1) })] }))).toMatchObject({
      wallRatio: null,
    });
  });

  it('shows all rules relative to no geofences and routes, and to positions only', () => {
    const rules = [
      drainRun({ configuration: ours(1, 'unasked'), records: 100, seconds: 3, cpuSeconds: 4 }),
      drainRun({ configuration: ours(1), records: 100, seconds: 2, cpuSeconds: 2 }),
      drainRun({ configuration: ours(1, 'all'), records: 100, seconds: 4, cpuSeconds: 8 }),
    ];
    expect(parsed(jsonLine({ ...emptyResults, rules }))).toMatchObject({
      rulesRatio: 0.75,
      rulesCpuRatio: 0.5,
      rulesToPositionsRatio: 0.5,
      rulesToPositionsCpuRatio: 0.25,
    });
  });

  it('has each of them in its best configuration', () => {
    const rules = (['unasked', 'positions'] as const).flatMap((others) => [
      drainRun({ configuration: ours(1, others), records: 100, seconds: 4, cpuSeconds: 4 }),
      drainRun({ configuration: ours(1, 'all'), records: 100, seconds: 8, cpuSeconds: 8 }),
      drainRun({ configuration: ours(2, others), records: 100, seconds: 3, cpuSeconds: 5 }),
      drainRun({ configuration: ours(2, 'all'), records: 100, seconds: 5, cpuSeconds: 10 }),
    ]);
    expect(parsed(jsonLine({ ...emptyResults, rules }))).toMatchObject({
      rulesRatio: 0.6,
      rulesCpuRatio: 0.5,
      rulesToPositionsRatio: 0.6,
      rulesToPositionsCpuRatio: 0.5,
    });
  });

  it('is one line', () => expect(jsonLine(emptyResults)).not.toContain('\n'));
});

describe('The same answer in the JSON line', () => {
  const expected = { events: 1, hash: 'a', content: null };
  const answer = { events: 1, hash: 'a', content: 'b' };

  it('is true when all drained backlogs and all killed runs gave it', () => {
    const drain = [drainRun({ configuration: ours(1), answer }), drainRun({ configuration: theirs(1), answer })];
    const failover = [failoverRun({ configuration: ours(1), answer })];
    expect(parsed(jsonLine({ ...emptyResults, expected, drain, failover }))).toMatchObject({ sameAnswer: true });
  });

  it('does not look at runs with all rules, which have more events', () => {
    const rules = [
      drainRun({ configuration: ours(1), answer }),
      drainRun({ configuration: ours(1, 'all'), answer: { ...answer, events: 5 } }),
    ];
    expect(parsed(jsonLine({ ...emptyResults, rulesExpected: expected, rules }))).toMatchObject({ sameAnswer: true });
    const wrong = drainRun({ configuration: ours(1, 'unasked'), answer: { ...answer, events: 2 } });
    expect(parsed(jsonLine({ ...emptyResults, rulesExpected: expected, rules: [...rules, wrong] }))).toMatchObject({
      sameAnswer: false,
    });
  });

  it('is false when a killed run lost or doubled an event', () => {
    const drain = [drainRun({ configuration: ours(1), answer })];
    const failover = [failoverRun({ configuration: ours(1), answer: { ...answer, events: 2 } })];
    expect(parsed(jsonLine({ ...emptyResults, expected, drain, failover }))).toMatchObject({ sameAnswer: false });
  });
});
