import { ATTEMPT_DEADLINE_MS } from '../delivery/attempt-limits.js';
import { CLOCK_TOLERANCE_MS } from '../time/clock-tolerance.js';
import { MINUTE_MS } from '../time/units.js';

/** For how long the record of an attempt is written again before another attempt is made. */
const WRITTEN_FOR_MS = MINUTE_MS;
/** From the start of an attempt, by the clock of its sender, to its record. */
const LOGGED_WITHIN_MS = ATTEMPT_DEADLINE_MS + WRITTEN_FOR_MS + CLOCK_TOLERANCE_MS.senderAndBroker;

/** every delivery whose first attempt was before this is in the history. `loggedUntil`: all logged before it is projected. */
export function completeUntil(loggedUntil: number | null): number | null {
  return loggedUntil === null ? null : loggedUntil - LOGGED_WITHIN_MS;
}
