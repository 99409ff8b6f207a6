import type { DevicePath } from '@waypost/client';
import { Moment } from '../shared/moment.js';

type Point = DevicePath['points'][number];

const [WIDTH, HEIGHT] = [1_000, 120];

interface SpeedGraphProps {
  readonly points: readonly Point[];
  /** Of the point that is marked on the map; -1: none. */
  readonly selected: number;
  readonly onSelect: (index: number) => void;
}

/** The speed over time, beside the map: pointing at a moment marks its place. */
export function SpeedGraph({ points, selected, onSelect }: SpeedGraphProps) {
  const [start, end] = [timeOf(points[0]), timeOf(points.at(-1))];
  const fastest = Math.max(10, ...points.map(({ speed_in_kmh = 0 }) => speed_in_kmh));
  const x = (point: Point): number => (WIDTH * (timeOf(point) - start)) / Math.max(1, end - start);
  const y = ({ speed_in_kmh = 0 }: Point): number => HEIGHT - (HEIGHT * speed_in_kmh) / fastest;
  const marked = points[selected];

  function select(fraction: number): void {
    const at = start + fraction * (end - start);
    const later = points.findIndex((point) => timeOf(point) >= at);
    onSelect(later < 0 ? points.length - 1 : later);
  }

  return (
    <figure className="graph">
      <figcaption>
        Speed, up to {Math.round(fastest)} km/h
        {marked && (
          <>
            {': '}
            <Moment iso={marked.time} /> {marked.speed_in_kmh ?? 'no'} km/h
          </>
        )}
      </figcaption>
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={({ nativeEvent, currentTarget }) => select(nativeEvent.offsetX / currentTarget.clientWidth)}
        onPointerLeave={() => onSelect(-1)}
      >
        <polyline points={points.map((point) => `${x(point).toFixed(1)},${y(point).toFixed(1)}`).join(' ')} />
        {marked && <line x1={x(marked)} x2={x(marked)} y1={0} y2={HEIGHT} />}
      </svg>
    </figure>
  );
}

function timeOf(point: Point | undefined): number {
  return point ? Date.parse(point.time) : 0;
}
