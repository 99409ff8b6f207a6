import './subscriptions.css';
import { Link } from 'wouter';
import type { V2Event } from '@waypost/client';
import { Moment } from '../shared/moment.js';
import { ActionError } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { durationText } from '../shared/time-text.js';
import type { TestEvent } from './use-test-event.js';

/** What the endpoint answered to a test event, as soon as it is known. */
export function TestResult({ test: { eventId, delivery, error } }: { readonly test: TestEvent }) {
  return (
    <>
      <ActionError error={error} />
      {eventId !== null && (
        <p role="status" className="card test-result">
          {delivery === null ? (
            <span className="live">The test event is being sent.</span>
          ) : (
            <>
              <StatusBadge status={delivery.status} /> <Answer delivery={delivery} />
            </>
          )}
          {delivery !== null && <Link href={`/deliveries/${eventId}`}>Show the delivery</Link>}
        </p>
      )}
    </>
  );
}

function Answer({ delivery: { attempts, statusCode, nextAttemptAt } }: Pick<V2Event, 'delivery'>) {
  const last = attempts.at(-1);
  if (last === undefined) return <span>It waits for its first attempt.</span>;
  const took = ` after ${durationText(last.durationMs)}.`;
  return (
    <span>
      {statusCode === undefined
        ? `No response (${last.error ?? 'none'})${took}`
        : `Your endpoint responded with ${String(statusCode)}${took}`}
      {nextAttemptAt !== undefined && (
        <>
          {' '}
          The next attempt is at <Moment iso={nextAttemptAt} />.
        </>
      )}
    </span>
  );
}
