import { ATTEMPT_DEADLINE_MS } from '../delivery/attempt-limits.js';
import { CLOCK_TOLERANCE_MS } from '../time/clock-tolerance.js';
import { MINUTE_MS } from '../time/units.js';

/** How long a sender retries to write the record of an attempt before it makes another attempt. */
const WRITTEN_FOR_MS = MINUTE_MS;
/** The time from the start of an attempt, by the sender's clock, to its record. */
const LOGGED_WITHIN_MS = ATTEMPT_DEADLINE_MS + WRITTEN_FOR_MS + CLOCK_TOLERANCE_MS.senderAndBroker;

/** every delivery first attempted before the result is in the history. `loggedUntil`: everything logged before it is projected. */
export function completeUntil(loggedUntil: number | null): number | null {
  return loggedUntil === null ? null : loggedUntil - LOGGED_WITHIN_MS;
}
