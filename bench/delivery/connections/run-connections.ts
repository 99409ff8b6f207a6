import { loadavg } from 'node:os';
import { tableOf, writeSection } from '../../shared/report/docs-section.js';
import { machineText, readMachine } from '../../shared/report/machine.js';
import { counted, resultLine } from '../../shared/report/number-text.js';
import type { BenchOutcome, BenchRun } from '../../shared/run-benchmark.js';
import type { Summary } from '../../shared/statistics.js';
import type { BenchFlags } from '../bench-flags.js';
import { type ConnectionRun, measureConnections } from './measure.js';

const IN_FLIGHT = 32;

/** What a POST costs over http and TLS, on kept and on new connections: libs/egress and a server, without a stack. */
export async function runConnections({ flags, reporter }: BenchRun<BenchFlags>): Promise<BenchOutcome> {
  const { dataDir, quick, writeDocs } = flags;
  const [rounds, seconds] = quick ? [3, 0.5] : [7, 2];
  const onRound = (round: number): void => {
    reporter.note(`  round ${String(round)} of ${String(rounds)}`);
  };
  const runs = await measureConnections({ dataDir, rounds, seconds, inFlight: IN_FLIGHT, onRound });
  const facts = [
    machineText(readMachine()),
    `${String(rounds)} rounds of ${String(seconds)} s each, the kinds in turn; ${String(IN_FLIGHT)} POSTs of 1 KB at a time to one server process; TLS 1.3 with P-256`,
    `load average at the end ${loadavg()[0]?.toFixed(1) ?? ''}, of which 2 are these`,
  ];
  const report = [`${facts.join('; ')}. Median (least to most):`, tableOf(rowsOf(runs))];
  reporter.note(report.join('\n\n'));
  if (writeDocs) await writeSection('connections', report.join('\n\n'));
  return { line: resultLine('delivery-connections', { rounds, runs }, {}) };
}

function rowsOf(runs: readonly ConnectionRun[]): string[][] {
  const base = runs[0]?.cpuMsPerPost.median ?? NaN;
  const rows = runs.map(({ kind, postsPerSecond, cpuMsPerPost, postMs }) => [
    kind,
    spread(postsPerSecond, counted),
    spread(cpuMsPerPost, (value) => value.toFixed(3)),
    (cpuMsPerPost.median / base).toFixed(1),
    spread(postMs, (value) => value.toFixed(1)),
  ]);
  return [['connection', 'POSTs/s', 'CPU ms of the sender', 'ratio', 'ms'], ...rows];
}

function spread({ median, least, most }: Summary, text: (value: number) => string): string {
  return `${text(median)} (${text(least)} to ${text(most)})`;
}
