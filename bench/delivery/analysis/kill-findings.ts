import { type Percentiles, percentilesOf } from '../../shared/statistics.js';
import { type AttemptFaults, attemptFaults, type LoggedAttempt } from './attempts-log.js';
import { type Delivery, times200 } from './deliveries.js';

/** What killing the sender did, as the receiver and the log saw it. */
export interface KillFindings {
  readonly accepted: number;
  /** Accepted by the endpoint in no attempt. */
  readonly lost: number;
  /** Deliveries answered 200 a second time, by kill. */
  readonly answeredTwice: readonly number[];
  /** Requests at the sink without an answer, by kill. */
  readonly inFlight: readonly number[];
  /** From a kill until those came again. */
  readonly againAfterMs: Percentiles;
  /** Of those, that never came again. */
  readonly neverAgain: number;
  readonly failing: AttemptFaults;
  /** Of retries whose wait spans a kill: start minus due time, as the log has it. */
  readonly latenessAcrossMs: Percentiles;
}

interface KillObservations {
  readonly deliveries: readonly Delivery[];
  readonly logged: readonly LoggedAttempt[];
  readonly isFailing: (endpoint: number) => boolean;
  readonly killedMs: readonly number[];
}

export function killFindings({ deliveries, logged, isFailing, killedMs }: KillObservations): KillFindings {
  const healthy = deliveries.filter(({ endpoint }) => !isFailing(endpoint));
  const again = killedMs.flatMap((atMs) => inFlightAt(deliveries, atMs).map((delivery) => againAfter(delivery, atMs)));
  return {
    accepted: healthy.length,
    lost: healthy.filter((delivery) => times200(delivery) === 0).length,
    answeredTwice: killedMs.map((_, kill) => repeatsAfter(healthy, killedMs, kill)),
    inFlight: killedMs.map((atMs) => inFlightAt(deliveries, atMs).length),
    againAfterMs: percentilesOf(again.filter((ms) => ms !== null)),
    neverAgain: again.filter((ms) => ms === null).length,
    failing: attemptFaults(deliveries.filter(({ endpoint }) => isFailing(endpoint))),
    latenessAcrossMs: percentilesOf(latenessAcross(logged, killedMs)),
  };
}

/** Second answers between this kill and the next. */
function repeatsAfter(deliveries: readonly Delivery[], killedMs: readonly number[], kill: number): number {
  const from = kill === 0 ? -Infinity : (killedMs[kill] ?? Infinity);
  const until = killedMs[kill + 1] ?? Infinity;
  return deliveries.reduce((sum, { receipts }) => {
    const repeats = receipts.filter(({ status }) => status === 200).slice(1);
    return sum + repeats.filter(({ receivedMs }) => receivedMs >= from && receivedMs < until).length;
  }, 0);
}

/** Their last request before the kill was never answered. */
function inFlightAt(deliveries: readonly Delivery[], atMs: number): Delivery[] {
  return deliveries.filter(
    ({ receipts }) => receipts.filter(({ receivedMs }) => receivedMs <= atMs).at(-1)?.status === 0,
  );
}

function againAfter({ receipts }: Delivery, atMs: number): number | null {
  const next = receipts.find(({ receivedMs }) => receivedMs > atMs);
  return next === undefined ? null : next.receivedMs - atMs;
}

function latenessAcross(logged: readonly LoggedAttempt[], killedMs: readonly number[]): number[] {
  const starts = new Map(logged.map((one) => [`${String(one.event)}/${String(one.attempt)}`, one.startedMs]));
  return logged.flatMap(({ event, attempt, dueMs, startedMs }) => {
    const before = starts.get(`${String(event)}/${String(attempt - 1)}`);
    const isAcross = before !== undefined && killedMs.some((atMs) => before < atMs && startedMs > atMs);
    return isAcross ? [startedMs - dueMs] : [];
  });
}
