import { describe, expect, it } from '@jest/globals';
import { type Configuration, ours, theirs } from '../sides/deployment.js';
import { figuresOf } from './figures.js';
import { partitionsMarkdown, reportMarkdown, rulesMarkdown } from './tables.js';
import { drainRun, emptyResults, restoreRun } from './testing/runs.js';

function reportOf(results: typeof emptyResults): string {
  return reportMarkdown(results, figuresOf(results));
}

describe('The report', () => {
  it('gives median and spread of each configuration, and the ratio of the best', () => {
    const drain = [1, 2, 4].flatMap((seconds) => [
      drainRun({ configuration: ours(1), records: 1_000_000, seconds }),
      drainRun({ configuration: theirs(2), records: 1_000_000, seconds: seconds * 2 }),
    ]);
    const report = reportOf({ ...emptyResults, rounds: 3, drain });
    expect(report).toContain('| Waypost, 1 process | 500k (250k - 1000k) |');
    expect(report).toContain('| Kafka Streams, 2 threads, in memory | 250k (125k - 500k) |');
    expect(report).toContain('| Records/s (drained backlog; more is better) | 500k | 250k | 2.00x |');
  });

  it('has a row per size of the restored state', () => {
    const restore = [200_000, 2_000_000].flatMap((devices) => [
      restoreRun({ configuration: ours(1), devices }),
      restoreRun({ configuration: theirs(1), devices }),
    ]);
    const report = reportOf({ ...emptyResults, restore });
    expect(report).toContain('| Restored devices/s (state of 200,000; more is better)');
    expect(report).toContain('| Restored devices/s (state of 2,000,000; more is better)');
  });

  it('names the machine', () => expect(reportOf(emptyResults)).toContain('Invented CPU, 2 cores, 8 GiB, Linux 6.1'));
});

describe('The report of many partitions', () => {
  it('has a row per side, whose cells are medians with the spread', () => {
    const run = (configuration: Configuration, commitsPerSecond: number) => ({
      configuration,
      events: 1,
      p50Ms: 30,
      p99Ms: 90,
      maxMs: 100,
      startUpMs: 4_000,
      commitsPerSecond,
      brokerCpuPerMillion: 7.25,
      cpuPerMillion: 11,
      peakMiB: 400,
    });
    const partitions = [run(ours(4), 900), run(theirs(1), 40), run(ours(4), 1_100), run(ours(4), 1_000)];
    const report = partitionsMarkdown({ ...emptyResults, partitions }) ?? '';
    expect(report).toContain('| Waypost, 4 processes | 1,000 (900 - 1,100) | 7.3 (7.3 - 7.3) |');
    expect(report).toContain('| Kafka Streams, 1 thread, in memory | 40 | 7.3 | 11.0 | 30 ms | 90 ms | 4.0 s | 400 |');
  });

  it('is none when it was not measured', () => expect(partitionsMarkdown(emptyResults)).toBeNull());
});

describe('The report of all rules', () => {
  const rules = [
    ...(['unasked', 'positions'] as const).map((others, index) =>
      drainRun({
        configuration: ours(1, others),
        records: 1_000,
        seconds: 3 - index,
        answer: { events: 10, hash: '', content: '' },
      }),
    ),
    drainRun({
      configuration: ours(1, 'all'),
      records: 1_000,
      seconds: 4,
      answer: { events: 15, hash: '', content: '' },
    }),
  ];

  it('states the remaining speed and the additional events', () => {
    const results = { ...emptyResults, rules };
    const report = rulesMarkdown(results, figuresOf(results)) ?? '';
    expect(report).toContain('keeps 75 % of the records/s');
    expect(report).toContain('Of positions alone it keeps 50 % of the records/s');
    expect(report).toContain('| Waypost, 1 process, nothing asked for |');
    expect(report).toContain('writes 15 events instead of 10');
    expect(report).toContain('| Waypost, 1 process, all rules |');
  });

  it('is none when it was not measured', () => expect(rulesMarkdown(emptyResults, figuresOf(emptyResults))).toBeNull());
});
