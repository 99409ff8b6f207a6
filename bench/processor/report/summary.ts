import { counted, milliseconds, seconds, thousands, times } from '../../shared/report/number-text.js';
import { type Figures, type Pair, ratioOf } from './figures.js';

/** One line of the comparison, each side in its best configuration for that figure. */
export interface SummaryRow {
  readonly title: string;
  readonly note: string;
  readonly pair: Pair;
  readonly text: (value: number) => string;
}

function row(pair: Pair, text: (value: number) => string, title: string, note: string): SummaryRow {
  return { title, note, pair, text };
}

/** Figures that were not measured are left out. */
export function summaryRows(figures: Figures): SummaryRow[] {
  const mebibytes = (value: number): string => `${value.toFixed(0)} MiB`;
  const rows = [
    row(figures.recordsPerSecond, thousands, 'Records/s', 'drained backlog; more is better'),
    row(figures.recordsPerCpuSecond, thousands, 'Records per CPU second', 'drained backlog; more is better'),
    row(figures.peakMiB, mebibytes, 'Peak memory', 'drained backlog; less is better'),
    row(figures.latencyP99Ms, milliseconds, 'Latency p99', '2,000 pings/s; less is better'),
    ...figures.restore.map(({ devices, devicesPerSecond }) =>
      row(devicesPerSecond, thousands, 'Restored devices/s', `state of ${counted(devices)}; more is better`),
    ),
    row(figures.restartMs, seconds, 'Restart after kill -9', 'until all partitions go on; less is better'),
    row(figures.takeoverMs, seconds, 'Takeover after kill -9', 'until all partitions go on; less is better'),
  ];
  return rows.filter(({ pair }) => pair.ours !== null && pair.theirs !== null);
}

export function ratioText(pair: Pair): string {
  const ratio = ratioOf(pair);
  return ratio === null ? '' : times(ratio);
}
