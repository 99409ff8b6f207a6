import { Link } from 'wouter';
import { type DeliveryFilters, searchOf, streamQueryOf } from '../filters/delivery-filters.js';
import { ShellHint } from '../session/shell-hint.js';
import { Moment } from '../shared/moment.js';
import { Empty, Failure } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { StatusCode } from '../shared/status-code.js';
import { countText, durationText } from '../shared/time-text.js';
import { VirtualRows } from '../shared/virtual-rows.js';
import type { StreamedAttempt } from './tail-buffer.js';
import { type Tail, useTail } from './use-tail.js';

const TITLES = ['Started', 'Status', 'Event', 'Device', 'Code', 'Took', 'Attempt'];

/** Attempts as they are made. Each change of the filters is a tail of its own, so mount it with the address as its key. */
export function LiveTail({ filters }: { readonly filters: DeliveryFilters }) {
  const tail = useTail(streamQueryOf(filters), searchOf(filters));
  const { rows, isRunning, start, stop, error } = tail;
  return (
    <>
      <div className="list-line">
        <TailState tail={tail} />
        <button type="button" onClick={isRunning ? stop : start} aria-keyshortcuts="l" data-key="l">
          {isRunning ? 'Stop' : rows.length === 0 ? 'Start' : 'Continue'}
        </button>
      </div>
      {error && <Failure error={error} retry={start} />}
      {rows.length === 0 && !error && <Waiting isRunning={isRunning} />}
      {tail.waiting > 0 && (
        <button
          type="button"
          className="newer primary"
          onClick={() => {
            tail.showWaiting();
            scrollTo(0, 0);
          }}
        >
          Show {countText(tail.waiting)} newer
        </button>
      )}
      {rows.length > 0 && (
        <VirtualRows
          label="Attempts"
          className="attempts"
          titles={TITLES}
          rows={rows}
          keyOf={({ id }) => id}
          cells={attemptCells}
        />
      )}
    </>
  );
}

function TailState({ tail: { isRunning, connection, seen, rows } }: { readonly tail: Tail }) {
  const counted = `${countText(seen)} ${seen === 1 ? 'attempt' : 'attempts'}`;
  const dropped = seen > rows.length ? `, the newest ${countText(rows.length)} are kept` : '';
  if (!isRunning)
    return (
      <span className="hint" role="status">
        Stopped after {counted}
        {dropped}
      </span>
    );
  if (connection.state === 'lost')
    return (
      <span className="outdated" role="status">
        {connection.refusal ?? 'The connection was lost.'} The tail resumes where it was once the API responds.
      </span>
    );
  return (
    <span className={connection.state === 'open' ? 'live' : 'hint'}>
      {connection.state === 'open' ? `Live: ${counted}${dropped}` : 'Connecting'}
    </span>
  );
}

function Waiting({ isRunning }: { readonly isRunning: boolean }) {
  if (!isRunning) return <Empty title="The live tail is stopped" />;
  return (
    <Empty title="Waiting for the next attempt">
      <p>Attempts appear here as they are made.</p>
      <ShellHint>
        <p>
          Pings make some: <code>npm run waypost -- publish --help</code>
        </p>
      </ShellHint>
    </Empty>
  );
}

function attemptCells({ data }: StreamedAttempt) {
  const { eventId, eventType, deviceId, startedAt, status, statusCode, error, durationMs, attempt, probe } = data;
  return (
    <>
      <span role="cell">
        <Link href={`/deliveries/${eventId}`} className="covers">
          <Moment iso={startedAt} isExact />
        </Link>
      </span>
      <span role="cell">
        <StatusBadge status={status} />
      </span>
      <span role="cell">{eventType}</span>
      <span role="cell" className="text" title={deviceId}>
        {deviceId}
      </span>
      <span role="cell">
        <StatusCode code={statusCode} error={error} />
      </span>
      <span role="cell">{durationText(durationMs)}</span>
      <span role="cell">{probe === true ? 'probe' : attempt}</span>
    </>
  );
}
