import { Moment } from '../shared/moment.js';
import { durationText } from '../shared/time-text.js';
import { type Column, OUTCOMES } from './figures.js';

const [WIDTH, HEIGHT] = [1_000, 160];
const GAP = 0.15;

interface ChartProps {
  readonly columns: readonly Column[];
}

/** Deliveries over time, by outcome; the table below it has the same figures. */
export function DeliveryChart({ columns }: ChartProps) {
  const most = Math.max(1, ...columns.map((column) => OUTCOMES.reduce((sum, outcome) => sum + column[outcome], 0)));
  const width = WIDTH / columns.length;
  return (
    <figure className="graph">
      <figcaption>
        Deliveries, up to {most}:{' '}
        {OUTCOMES.map((outcome) => (
          <span key={outcome} className={`badge ${outcome}`}>
            ■ {outcome}{' '}
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none" aria-hidden="true">
        {columns.map((column, index) => (
          <Stack
            key={column.startDate}
            column={column}
            x={index * width}
            width={width * (1 - GAP)}
            scale={HEIGHT / most}
          />
        ))}
      </svg>
    </figure>
  );
}

interface StackProps {
  readonly column: Column;
  readonly x: number;
  readonly width: number;
  readonly scale: number;
}

function Stack({ column, x, width, scale }: StackProps) {
  let top = HEIGHT;
  return OUTCOMES.map((outcome) => {
    const height = column[outcome] * scale;
    top -= height;
    return height === 0 ? null : <rect key={outcome} className={outcome} x={x} y={top} width={width} height={height} />;
  });
}

/** From a delivery's creation to its acceptance: the median, and what one of a hundred is above. */
export function LatencyChart({ columns }: ChartProps) {
  const slowest = Math.max(1, ...columns.map(({ latencyMs }) => latencyMs?.p99 ?? 0));
  const line = (percentile: 'p50' | 'p99'): string =>
    columns
      .flatMap(({ latencyMs }, index) => {
        if (!latencyMs) return [];
        const x = (WIDTH * (index + 0.5)) / columns.length;
        return [`${x.toFixed(1)},${(HEIGHT - (HEIGHT * latencyMs[percentile]) / slowest).toFixed(1)}`];
      })
      .join(' ');
  return (
    <figure className="graph">
      <figcaption>
        Time to acceptance, up to {durationText(slowest)}: <span className="good">― p50</span>{' '}
        <span className="bad">― p99</span>
      </figcaption>
      <svg viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`} preserveAspectRatio="none" aria-hidden="true">
        <polyline className="good" points={line('p50')} />
        <polyline className="bad" points={line('p99')} />
      </svg>
    </figure>
  );
}

/** The same as text. */
export function FigureTable({ columns }: ChartProps) {
  return (
    <details>
      <summary>As a table</summary>
      <div className="scrolls" tabIndex={0} role="region" aria-label="Figures">
        <table>
          <thead>
            <tr>
              {['From', ...OUTCOMES, 'p50', 'p99'].map((title) => (
                <th scope="col" key={title}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => (
              <tr key={column.startDate}>
                <td>
                  <Moment iso={column.startDate} />
                </td>
                {OUTCOMES.map((outcome) => (
                  <td key={outcome}>{column[outcome]}</td>
                ))}
                <td>{column.latencyMs ? durationText(column.latencyMs.p50) : '-'}</td>
                <td>{column.latencyMs ? durationText(column.latencyMs.p99) : '-'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
