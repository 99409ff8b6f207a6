import uPlot from 'uplot';
import { DAY_MS } from '../shared/clock.js';
import { clockText, dayText } from '../shared/time-text.js';
import { durationAt, durationMarks, durationRange } from './duration-axis.js';
import { type ChartSeries, lonelyPoints } from './series.js';

/** Points for what is rare: lines between them would say something of the time in between. */
export type ChartKind = 'bars' | 'lines' | 'points';

export interface PlotShape {
  readonly kind: ChartKind;
  readonly stepMs: number;
  /** The end of the y axis; otherwise it fits what is drawn. */
  readonly most?: number;
  /** The beginning of the y axis; otherwise 0. Only of lines: the height of a bar has to mean something. */
  readonly least?: number;
  /** Values are milliseconds, on a logarithmic axis. */
  readonly areDurations?: boolean;
  readonly format: (value: number) => string;
  /** The index of the moment under the pointer; null: none. */
  readonly onPoint: (index: number | null) => void;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const FONT = '11px "Inter Variable", system-ui, sans-serif';
const Y_AXIS_PX = 52;
const BAR_SHARE = 0.72;
const WIDEST_BAR_PX = 48;
/** Charts with one key show the same moment under the pointer. */
const SYNC_KEY = 'console';

/** uPlot counts in seconds. */
export function optionsOf(
  shape: PlotShape,
  series: readonly ChartSeries[],
  colors: Readonly<Record<string, string>>,
  size: Size,
): uPlot.Options {
  const { kind, stepMs, areDurations = false, format, onPoint } = shape;
  const axis = {
    stroke: colors['faint'] ?? '',
    font: FONT,
    grid: { stroke: colors['grid'] ?? '', width: 1 },
    ticks: { show: false },
  };
  const halfStep = stepMs / 2_000;
  return {
    ...size,
    // Days are those of UTC, and so are the marks of the axis between them.
    ...(stepMs >= DAY_MS && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') }),
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind !== 'bars' }, sync: { key: SYNC_KEY } },
    scales: {
      x: { range: (_, min, max) => [min - halfStep, max + halfStep] },
      y: areDurations
        ? { range: (_, min, max) => durationRange(min, max) }
        : { range: (_, __, max) => yRange(max, kind, shape) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 30,
        gap: 9,
        values: (_, splits) => splits.map((seconds) => timeLabel(seconds * 1_000, stepMs)),
      },
      {
        ...axis,
        size: Y_AXIS_PX,
        space: 32,
        // Half a delivery is none.
        incrs: kind === 'bars' ? WHOLE_STEPS : ALL_STEPS,
        ...(areDurations && { splits: (_, __, min, max) => durationMarks(min, max) }),
        values: (_, splits) => splits.map((split) => format(areDurations ? durationAt(split) : split)),
      },
    ],
    series: [{}, ...series.map((one, index) => drawn(one, index, kind, colors[one.color] ?? ''))],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

/** Of the first series, and those over it: where they are equal, each is still seen between or around what covers it. */
const DASHES = [[], [9, 5], [5, 9]];
const POINT_PX = [10, 8, 6];

const ALL_STEPS = [-2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
const WHOLE_STEPS = ALL_STEPS.filter((step) => step >= 1);

function yRange(max: number | null, kind: ChartKind, { most, least = 0 }: PlotShape): [number, number] {
  // A line at its most is still seen.
  if (most !== undefined) return [least, most + (most - least) * 0.02];
  if (max === null || max <= 0) return [0, kind === 'bars' ? 4 : 1];
  return [0, kind === 'bars' ? Math.max(4, max * 1.1) : max * 1.15];
}

function timeLabel(atMs: number, stepMs: number): string {
  const iso = new Date(atMs).toISOString();
  return stepMs >= DAY_MS ? dayText(iso, 'UTC') : clockText(iso);
}

function drawn({ label }: ChartSeries, index: number, kind: ChartKind, color: string): uPlot.Series {
  if (kind === 'bars') {
    const bars = uPlot.paths.bars?.({ size: [BAR_SHARE, WIDEST_BAR_PX], radius: 0.12 });
    return { label, fill: color, width: 0, points: { show: false }, ...(bars && { paths: bars }) };
  }
  const points = { show: true, size: 6, fill: color, stroke: color };
  if (kind === 'points')
    return { label, stroke: color, paths: () => null, points: { ...points, size: POINT_PX[index] ?? points.size } };
  return {
    label,
    stroke: color,
    width: 1.75,
    dash: DASHES[index] ?? [],
    points: {
      ...points,
      filter: (plot, seriesIndex) => lonelyPoints(plot.data[seriesIndex] as (number | null)[]),
    },
  };
}
