import { answerOf } from '../../recording-receiver.js';
import type {
  EndpointBehavior,
  ExpectedDelivery,
  Interruption,
  LoggedAttempt,
  LoggedDelivery,
  Observations,
  Pause,
  Receipt,
} from '../observations.js';

/** Observations that a planted fault may change. */
export interface ObservedRun extends Observations {
  expected: ExpectedDelivery[];
  deliveries: LoggedDelivery[];
  attempts: LoggedAttempt[];
  receipts: Receipt[];
  interruptions: Interruption[];
  pauses: Pause[];
}

export const SENDER = '127.20.0.1';
export const OTHER_SENDER = '127.21.0.1';
export const BEGAN_AT = Date.UTC(2026, 0, 12, 6);

const WAITS_MS = [2_000, 4_000, 8_000, 15_000];
/** Of every attempt; its record is in the log 10 ms later. */
export const DURATION_MS = 300;
const LOGGED_AFTER_MS = 10;

/** A run in which nothing was disturbed: one delivery for each behavior, each event a second after the one before. */
export function observedRun(behaviors: readonly EndpointBehavior[]): ObservedRun {
  const run: ObservedRun = { expected: [], deliveries: [], attempts: [], receipts: [], interruptions: [], pauses: [] };
  for (const [index, behavior] of behaviors.entries()) addDelivery(run, behavior, index);
  return run;
}

function addDelivery(run: ObservedRun, behavior: EndpointBehavior, index: number): void {
  const eventId = `event-${String(index)}`;
  const path = `/hook/${String(index)}`;
  const bodyHash = `body-${String(index)}`;
  const loggedMs = BEGAN_AT + index * 1_000;
  const place = { partition: index % 2, offset: index };
  const url = `http://127.0.0.1:1${path}`;
  const identity = {
    eventId,
    subscriptionId: `subscription-${String(index)}`,
    fleetId: 'fleet-1',
    deviceId: 'device-1',
    eventType: 'position',
    eventTime: loggedMs - 10,
    format: 'v1',
    series: 0,
    replayId: null,
  };
  const createdAt = loggedMs - 1;
  run.expected.push({
    ...identity,
    path,
    url,
    behavior,
    bodyHash,
    strictOrder: false,
    ratePerSecond: null,
    traceparent: traceparentOf(index, 0),
  });
  run.deliveries.push({ ...identity, ...place, loggedMs, createdAt, bodyHash });
  let dueAt = loggedMs + 5;
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const answer = answerOf(behavior, attempt);
    const accepted = answer?.status === 200;
    const endedAt = dueAt + DURATION_MS;
    const outcome = accepted ? 'delivered' : attempt === 5 ? 'failed' : 'retrying';
    const nextDueAt = outcome === 'retrying' ? endedAt + (WAITS_MS[attempt - 1] ?? 0) : null;
    run.attempts.push({
      ...identity,
      url,
      deliveryCreatedAt: createdAt,
      firstAttemptAt: loggedMs + 5,
      partition: place.partition,
      deliveryOffset: place.offset,
      attempt,
      dueAt,
      startedAt: dueAt,
      durationMs: DURATION_MS,
      loggedMs: endedAt + LOGGED_AFTER_MS,
      nextDueAt,
      outcome,
      statusCode: answer?.status ?? null,
      errorCode: answer === null ? 'connection_refused' : null,
      decision: decisionOn(accepted, outcome, answer === null),
      bodyHash: attempt === 1 ? bodyHash : null,
      probe: false,
      probes: 0,
    });
    if (answer !== null)
      run.receipts.push({
        ...receivedAt(dueAt + 1),
        source: SENDER,
        path,
        eventId,
        attempt,
        bodyHash,
        requestProblem: null,
        traceparent: traceparentOf(index, attempt),
        status: answer.status,
        answeredMs: dueAt + 2,
      });
    if (nextDueAt === null) return;
    dueAt = nextDueAt;
  }
}

/** Signed at once. */
export function receivedAt(receivedMs: number): Pick<Receipt, 'receivedMs' | 'signedMs'> {
  return { receivedMs, signedMs: receivedMs - (receivedMs % 1_000) };
}

export function traceparentOf(trace: number, span: number): string {
  return `00-${String(trace + 1).padStart(32, '0')}-${String(span + 1).padStart(16, '0')}-01`;
}

function decisionOn(accepted: boolean, outcome: string, isError: boolean): string {
  if (accepted) return 'accepted';
  if (outcome === 'failed') return 'attempts_exhausted';
  return isError ? 'temporary_error' : 'temporary_status';
}

/** The item for which it holds, which there must be. */
export function one<T>(items: readonly T[], test: (item: T) => boolean): T {
  const found = items.find(test);
  if (found === undefined) throw new Error('There is no such item in the run.');
  return found;
}

/** Changes the item for which it holds. */
export function change<T>(items: T[], test: (item: T) => boolean, fields: Partial<T>): void {
  const item = one(items, test);
  items[items.indexOf(item)] = { ...item, ...fields };
}

export function remove<T>(items: T[], test: (item: T) => boolean): void {
  items.splice(items.indexOf(one(items, test)), 1);
}
