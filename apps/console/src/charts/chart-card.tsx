import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Boundary } from '../shared/boundary.js';
import { DAY_MS } from '../shared/clock.js';
import { Moment } from '../shared/moment.js';
import { dayText } from '../shared/time-text.js';
import type { ChartKind } from './plot-options.js';
import { type ChartSeries, latestOf } from './series.js';

const Plot = lazy(() => import('./plot.js'));

interface ChartCardProps {
  readonly title: string;
  /** In a few words, what is counted or measured. */
  readonly about: ReactNode;
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly kind: ChartKind;
  readonly stepMs: number;
  readonly most?: number;
  readonly least?: number;
  readonly areDurations?: boolean;
  /** What the legend has of a series while no moment is pointed at; otherwise the sum of bars, and the newest of lines. */
  readonly whole?: number | null;
  readonly format: (value: number) => string;
  /** In place of the chart while no series has a value. */
  readonly empty: string;
}

/** A chart with its legend, which shows the values under the pointer, or else the sums of bars and the newest of lines. */
export function ChartCard({ title, about, empty, whole, ...chart }: ChartCardProps) {
  const { times, series, kind, format } = chart;
  const [index, setIndex] = useState<number | null>(null);
  const at = index === null ? undefined : times[index];
  const hasValues = series.some(({ values }) => values.some((value) => value !== null));
  const value = (one: ChartSeries): number | null => {
    if (at !== undefined) return one.values[index ?? 0] ?? null;
    if (whole !== undefined) return whole;
    return kind === 'bars' ? one.values.reduce<number>((sum, some) => sum + (some ?? 0), 0) : latestOf(one);
  };
  return (
    <figure className="card chart">
      <figcaption>
        <span className="chart-title">{title}</span>
        <span className="hint chart-about">
          {at === undefined ? about : <ColumnTime atMs={at} stepMs={chart.stepMs} />}
        </span>
      </figcaption>
      <ul className="legend">
        {kind !== 'bars' && at === undefined && whole === undefined && hasValues && <li>now</li>}
        {series.map((one) => (
          <li key={one.label}>
            <span className={`swatch ${kind}`} style={{ background: `var(--${one.color})` }} />
            {one.label} <strong>{textOf(value(one), format)}</strong>
          </li>
        ))}
      </ul>
      <div className="plot-room">
        {hasValues ? (
          <Boundary
            fallback={<p className="hint plot-empty">The chart could not be drawn; the table has its figures.</p>}
          >
            <Suspense fallback={null}>
              <Plot {...chart} onPoint={setIndex} />
            </Suspense>
          </Boundary>
        ) : (
          <p className="hint plot-empty">{empty}</p>
        )}
      </div>
    </figure>
  );
}

function ColumnTime({ atMs, stepMs }: { readonly atMs: number; readonly stepMs: number }) {
  const iso = new Date(atMs).toISOString();
  return stepMs < DAY_MS ? <Moment iso={iso} /> : <time dateTime={iso}>{dayText(iso, 'UTC')}</time>;
}

function textOf(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}
