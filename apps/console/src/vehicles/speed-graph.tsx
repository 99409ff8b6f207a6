import type { KeyboardEvent } from 'react';
import type { DevicePath } from '@waypost/client';
import { Moment } from '../shared/moment.js';
import { speedLines } from './speed-axis.js';

type Point = DevicePath['points'][number];

const [WIDTH, HEIGHT] = [1_000, 120];
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity,
};

interface SpeedGraphProps {
  readonly points: readonly Point[];
  /** The point that is marked on the map; -1: none. */
  readonly selected: number;
  readonly onSelect: (index: number) => void;
}

/** The speed over time, beside the map: pointing at a moment marks its place. */
export function SpeedGraph({ points, selected, onSelect }: SpeedGraphProps) {
  const [start, end] = [timeOf(points[0]), timeOf(points.at(-1))];
  const fastest = Math.max(0, ...points.map(({ speed_in_kmh = 0 }) => speed_in_kmh));
  const lines = speedLines(fastest);
  const top = lines.at(-1) ?? 1;
  const x = (point: Point): number => (WIDTH * (timeOf(point) - start)) / Math.max(1, end - start);
  const y = ({ speed_in_kmh = 0 }: Point): number => HEIGHT - (HEIGHT * speed_in_kmh) / top;
  const marked = points[selected];

  function select(fraction: number): void {
    const at = start + fraction * (end - start);
    const later = points.findIndex((point) => timeOf(point) >= at);
    onSelect(later < 0 ? points.length - 1 : later);
  }

  function press(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    onSelect(Math.max(0, Math.min(points.length - 1, selected + step)));
  }

  return (
    <figure className="graph card">
      <figcaption>
        <span className="chart-title">Speed</span>{' '}
        <span className="hint">
          {marked ? (
            <>
              <Moment iso={marked.time} />: {marked.speed_in_kmh ?? 'no'} km/h
            </>
          ) : (
            `up to ${String(Math.round(fastest))} km/h`
          )}
        </span>
      </figcaption>
      <div className="graph-room">
        <LineNames lines={lines} />
        <svg
          viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
          preserveAspectRatio="none"
          role="slider"
          tabIndex={0}
          aria-label="Moment of the path"
          aria-valuemin={0}
          aria-valuemax={points.length - 1}
          aria-valuenow={Math.max(0, selected)}
          aria-valuetext={marked ? `${marked.time}, ${String(marked.speed_in_kmh ?? 'no')} km/h` : 'none'}
          onKeyDown={press}
          onPointerMove={({ nativeEvent, currentTarget }) => select(nativeEvent.offsetX / currentTarget.clientWidth)}
          onPointerLeave={() => onSelect(-1)}
        >
          <GridLines lines={lines} />
          <polyline points={points.map((point) => `${x(point).toFixed(1)},${y(point).toFixed(1)}`).join(' ')} />
          {marked && <line x1={x(marked)} x2={x(marked)} y1={0} y2={HEIGHT} />}
        </svg>
      </div>
      <Ends points={points} />
    </figure>
  );
}

interface LinesProps {
  readonly lines: readonly number[];
}

function LineNames({ lines }: LinesProps) {
  return (
    <span className="graph-lines hint" aria-hidden="true">
      {lines.toReversed().map((line, index) => (
        <span key={line}>{index === 0 ? `${String(line)} km/h` : line}</span>
      ))}
    </span>
  );
}

function GridLines({ lines }: LinesProps) {
  return lines.map((line, index) => {
    const y = HEIGHT - (HEIGHT * index) / (lines.length - 1);
    return <line key={line} className="grid" x1={0} x2={WIDTH} y1={y} y2={y} />;
  });
}

function Ends({ points }: Pick<SpeedGraphProps, 'points'>) {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return null;
  return (
    <p className="graph-ends hint">
      <Moment iso={first.time} />
      <Moment iso={last.time} />
    </p>
  );
}

function timeOf(point: Point | undefined): number {
  return point ? Date.parse(point.time) : 0;
}
