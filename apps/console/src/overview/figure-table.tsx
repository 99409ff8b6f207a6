import { Moment } from '../shared/moment.js';
import { durationText } from '../shared/time-text.js';
import { type Column, OUTCOMES } from './figures.js';

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

/** What the charts show, for those who do not see them. */
export function FigureTable({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <details>
      <summary>All figures as a table</summary>
      <div className="scrolls" tabIndex={0} role="region" aria-label="All figures">
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              {[...OUTCOMES, 'retries'].map((title) => (
                <th scope="col" key={title} className="number">
                  {title}
                </th>
              ))}
              {['acceptance', 'retry lateness'].flatMap((what) =>
                PERCENTILES.map((name) => (
                  <th scope="col" key={`${what} ${name}`} className="number">
                    {what} {name}
                  </th>
                )),
              )}
            </tr>
          </thead>
          <tbody>
            {columns.map((column) => (
              <tr key={column.startDate}>
                <td>
                  <Moment iso={column.startDate} />
                </td>
                {[...OUTCOMES, 'retries' as const].map((name) => (
                  <td key={name} className="number">
                    {column[name]}
                  </td>
                ))}
                {[column.latencyMs, column.retryLatenessMs].flatMap((of, index) =>
                  PERCENTILES.map((name) => (
                    <td key={`${String(index)} ${name}`} className="number">
                      {of ? durationText(of[name]) : '–'}
                    </td>
                  )),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
