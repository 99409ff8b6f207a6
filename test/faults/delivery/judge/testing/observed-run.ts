import { answerOf, RETRY_AFTER_S } from '../../endpoint-answers.js';
import { OUTAGE_TIMES } from '../check-outages.js';
import type {
  Cancel,
  EndpointBehavior,
  ExpectedDelivery,
  Interruption,
  LoggedAttempt,
  LoggedDelivery,
  Observations,
  OutageReport,
  OutageTimes,
  Pause,
  Receipt,
  SettingsVersion,
  TokenRequest,
} from '../observations.js';

/** Observations that a planted fault may change. */
export interface ObservedRun extends Observations {
  expected: ExpectedDelivery[];
  deliveries: LoggedDelivery[];
  attempts: LoggedAttempt[];
  receipts: Receipt[];
  tokenRequests: TokenRequest[];
  interruptions: Interruption[];
  versions: SettingsVersion[];
  cancels: Cancel[];
  outageReports: OutageReport[];
  outageTimes: OutageTimes;
}

export const SENDER = '127.20.0.1';
export const OTHER_SENDER = '127.21.0.1';
export const BEGAN_AT = Date.UTC(2026, 0, 12, 6);

const WAITS_MS = [2_000, 4_000, 8_000, 15_000];
/** Of every attempt; its record is in the log 10 ms later. */
export const DURATION_MS = 300;
const DEADLINE_MS = 5_000;
const LOGGED_AFTER_MS = 10;

/** A run in which nothing was disturbed: one delivery for each behavior, each event a second after the one before. */
export function observedRun(behaviors: readonly EndpointBehavior[]): ObservedRun {
  const run: ObservedRun = {
    ...{ expected: [], deliveries: [], attempts: [] },
    ...{ receipts: [], tokenRequests: [], interruptions: [], versions: [], cancels: [] },
    ...{ outageReports: [], outageTimes: OUTAGE_TIMES },
  };
  for (const [index, behavior] of behaviors.entries()) addDelivery(run, behavior, index);
  return run;
}

function addDelivery(run: ObservedRun, behavior: EndpointBehavior, index: number): void {
  const eventId = eventIdOf(behavior, index);
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
    const answer = answerOf(behavior, eventId, attempt);
    const status = answer.type === 'response' ? answer.status : null;
    const durationMs = answer.type === 'silence' ? DEADLINE_MS : DURATION_MS;
    const endedAt = dueAt + durationMs;
    const decision = decisionOn(status, attempt);
    const outcome = OUTCOMES[decision] ?? 'retrying';
    const waitMs = status === 401 ? 0 : status === 429 ? RETRY_AFTER_S * 1_000 : (WAITS_MS[attempt - 1] ?? 0);
    const nextDueAt = outcome === 'retrying' ? endedAt + waitMs : null;
    run.attempts.push({
      ...identity,
      url,
      deliveryCreatedAt: createdAt,
      firstAttemptAt: loggedMs + 5,
      partition: place.partition,
      offset: run.attempts.length,
      deliveryOffset: place.offset,
      attempt,
      dueAt,
      startedAt: dueAt,
      durationMs,
      loggedMs: endedAt + LOGGED_AFTER_MS,
      nextDueAt,
      retryAfterMs: status === 429 ? RETRY_AFTER_S * 1_000 : null,
      outcome,
      statusCode: status,
      errorCode: ERROR_CODES[answer.type],
      errorDetail: answer.type === 'response' ? null : 'in words',
      decision,
      bodyHash: attempt === 1 ? bodyHash : null,
      probe: false,
      probes: 0,
    });
    const token = behavior === 'unauthorized' ? `token-${String(attempt)}` : null;
    if (token !== null) run.tokenRequests.push({ source: SENDER, clientId: identity.subscriptionId, problem: null });
    if (answer.type !== 'refusal')
      run.receipts.push({
        ...receivedAt(dueAt + 1),
        source: SENDER,
        path,
        eventId,
        attempt,
        bodyHash,
        requestProblem: null,
        signers: '0',
        traceparent: traceparentOf(index, attempt),
        token,
        status,
        answeredMs: status === null ? null : dueAt + 2,
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

/** One whose first attempt meets what is particular to the endpoint. */
export function eventIdOf(behavior: EndpointBehavior, index: number): string {
  const isPicky = behavior === 'busy' || behavior === 'unauthorized' || behavior === 'silent';
  const ids = Array.from({ length: 100 }, (_, number) => `event-${String(index)}${'x'.repeat(number)}`);
  const met = ids.find((id) => JSON.stringify(answerOf(behavior, id, 1)) !== JSON.stringify(answerOf(behavior, id, 2)));
  return (isPicky ? met : ids[0]) ?? '';
}

const OUTCOMES: Readonly<Record<string, string>> = {
  accepted: 'delivered',
  permanent_status: 'failed',
  redirect_refused: 'failed',
  attempts_exhausted: 'failed',
};
const ERROR_CODES = { response: null, silence: 'timeout', refusal: 'connection_refused' } as const;
const PERMANENT = [404, 410];

function decisionOn(status: number | null, attempt: number): string {
  if (status === 200) return 'accepted';
  if (status === 302) return 'redirect_refused';
  if (status !== null && PERMANENT.includes(status)) return 'permanent_status';
  if (attempt === 5) return 'attempts_exhausted';
  if (status === 401) return 'unauthorized';
  return status === null ? 'temporary_error' : 'temporary_status';
}

/** Its subscription is paused for that time, as is known at once. */
export function pause({ attempts }: ObservedRun, { subscriptionId, fromMs, untilMs }: Pause): SettingsVersion[] {
  const url = attempts.find((one) => one.subscriptionId === subscriptionId)?.url ?? '';
  const active = { status: 'active', eventType: 'position', deviceIds: null, url, ratePerSecond: null, signers: '0' };
  const versionAt = (atMs: number, status: string): SettingsVersion => {
    const settings = { ...active, status };
    return { subscriptionId, settings, fromMs: atMs, knownMs: atMs, settledMs: atMs };
  };
  return [versionAt(-Infinity, 'active'), versionAt(fromMs, 'paused'), versionAt(untilMs, 'active')];
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
