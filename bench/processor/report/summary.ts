import { ratioOf, type Figures, type Pair } from './figures.js';
import { counted, seconds, thousands, times } from '../../shared/number-text.js';

/** One line of the comparison, each side in its best configuration for that figure. */
export interface SummaryRow {
  readonly title: string;
  readonly note: string;
  readonly pair: Pair;
  readonly text: (value: number) => string;
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}

/** Figures that were not measured are left out. */
export function summaryRows(figures: Figures): SummaryRow[] {
  const rows: SummaryRow[] = [
    { title: 'Records/s', note: 'drained backlog; more is better', pair: figures.recordsPerSecond, text: thousands },
    {
      title: 'Records per CPU second',
      note: 'drained backlog; more is better',
      pair: figures.recordsPerCpuSecond,
      text: thousands,
    },
    {
      title: 'Peak memory',
      note: 'drained backlog; less is better',
      pair: figures.peakMiB,
      text: (value) => `${value.toFixed(0)} MiB`,
    },
    {
      title: 'Latency p99',
      note: '2,000 pings/s; less is better',
      pair: figures.latencyP99Ms,
      text: ms,
    },
    ...figures.restore.map(({ devices, devicesPerSecond }) => ({
      title: 'Restored devices/s',
      note: `state of ${counted(devices)}; more is better`,
      pair: devicesPerSecond,
      text: thousands,
    })),
    {
      title: 'Restart after kill -9',
      note: 'until all partitions go on; less is better',
      pair: figures.restartMs,
      text: seconds,
    },
    {
      title: 'Takeover after kill -9',
      note: 'until all partitions go on; less is better',
      pair: figures.takeoverMs,
      text: seconds,
    },
  ];
  return rows.filter(({ pair }) => pair.ours !== null && pair.theirs !== null);
}

export function ratioText(pair: Pair): string {
  const ratio = ratioOf(pair);
  return ratio === null ? '' : times(ratio);
}
