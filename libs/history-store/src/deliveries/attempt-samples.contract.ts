import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type DeliveryRecord, recordNumber, type WebhookAttempt } from '@waypost/domain';
import { attemptOf as sampleOf } from '../../../../test/support/samples.js';

/** The clock of these tests: noon, so that both neighboring days are near. */
export const NOW = Date.UTC(2026, 5, 20, 12);

const HOUR_MS = 3_600_000;

/** A UUID derived from the name. */
export function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** An accepted first attempt an hour ago, with changes. */
export function attemptOf(change: Partial<WebhookAttempt> = {}): WebhookAttempt {
  const startedAt = change.startedAt ?? change.firstAttemptAt ?? NOW - HOUR_MS;
  const attempt = change.attempt ?? 1;
  return sampleOf({
    eventId: uuidOf(`event of ${change.fleetId ?? 'fleet-a'}`),
    subscriptionId: uuidOf('subscription'),
    fleetId: 'fleet-a',
    eventTime: startedAt - 2_500,
    deliveryOffset: 7,
    deliveryCreatedAt: startedAt - 20,
    attempt,
    dueAt: startedAt - 5,
    startedAt,
    durationMs: 40,
    body: attempt === 1 ? '{"eventId":"1"}' : null,
    ...change,
  });
}

const RETRYING = { outcome: 'retrying', decision: 'temporary_status', statusCode: 503 } as const;
const FAILED = {
  outcome: 'failed',
  decision: 'permanent_status',
  statusCode: 410,
  responseBody: '{"say":"gone, \\"forfü good\\""}\n',
} as const;
const TIMED_OUT = {
  outcome: 'failed',
  decision: 'attempts_exhausted',
  statusCode: null,
  errorCode: 'timeout',
  errorDetail: 'no response within 5000 ms',
} as const;
/** Ends without sending. */
const DISABLED = unsent('failed', 'subscription_disabled');
const EXPIRED = unsent('expired', 'expired');

function unsent(outcome: string, decision: string) {
  return { outcome, decision, statusCode: null, errorCode: decision };
}

/** The attempts of one delivery in order: some retries, then its end, unless it is open. */
export function attemptsOf(
  first: Partial<WebhookAttempt>,
  retries: number,
  end: 'delivered' | 'failed' | 'timed_out' | 'disabled' | 'expired' | 'open',
): WebhookAttempt[] {
  const firstAttemptAt = first.firstAttemptAt ?? NOW - HOUR_MS;
  const unfinished = { disabled: [DISABLED], expired: [EXPIRED], open: [] };
  const ends = { delivered: [{}], failed: [FAILED], timed_out: [TIMED_OUT], ...unfinished }[end];
  return [...Array<typeof RETRYING>(retries).fill(RETRYING), ...ends].map((outcome, index) => {
    const startedAt = firstAttemptAt + index * 2_000;
    const nextDueAt = outcome === RETRYING ? startedAt + 2_000 : null;
    return attemptOf({ ...first, ...outcome, attempt: index + 1, startedAt, firstAttemptAt, nextDueAt });
  });
}

/** The same attempts with probes before one of them, by its index. */
export function withProbes(attempts: readonly WebhookAttempt[], count: number, index: number): WebhookAttempt[] {
  const [first] = attempts;
  if (first === undefined || count === 0) return [...attempts];
  const { firstAttemptAt } = first;
  const probes = Array.from({ length: count }, (_, n) => {
    const startedAt = firstAttemptAt + (index + n) * 15_000;
    const numbers = { attempt: index + 1, probe: true, probes: n + 1, body: index + n === 0 ? first.body : null };
    return { ...first, ...RETRYING, ...numbers, startedAt, nextDueAt: startedAt + 15_000 };
  });
  const later = attempts.slice(index).map((attempt) => ({ ...attempt, probes: count, body: null }));
  return [...attempts.slice(0, index), ...probes, ...later];
}

/** The expected rows, computed differently from the store: attempts and probes by number, each number once. */
export function expectedRecords(log: readonly WebhookAttempt[]): DeliveryRecord[] {
  const keyOf = (attempt: WebhookAttempt): string => `${attempt.eventId} ${String(attempt.series)}`;
  return [...new Set(log.map(keyOf))].flatMap((key) => {
    const all = log.filter((attempt) => keyOf(attempt) === key);
    const numbers = Array.from({ length: 5 + Math.max(...all.map(({ probes }) => probes)) }, (_, n) => n + 1);
    const known = numbers.flatMap((number) => all.find((attempt) => recordNumber(attempt) === number) ?? []);
    const [first] = known;
    const last = known.at(-1);
    if (first === undefined || first.body === null || last === undefined) return [];
    return [recordOf(known, first, { ...last, body: first.body })];
  });
}

function recordOf(
  known: WebhookAttempt[],
  first: WebhookAttempt,
  last: WebhookAttempt & { body: string },
): DeliveryRecord {
  return {
    eventId: first.eventId,
    series: first.series,
    replayId: first.replayId,
    eventType: first.eventType,
    eventTime: first.eventTime,
    deviceId: first.deviceId,
    subscriptionId: first.subscriptionId,
    fleetId: first.fleetId,
    url: first.url,
    format: first.format,
    body: last.body,
    createdAt: first.deliveryCreatedAt,
    firstAttemptAt: first.startedAt,
    lastAttemptAt: last.startedAt,
    deliveredAt: last.outcome === 'delivered' ? last.startedAt + last.durationMs : null,
    nextAttemptAt: last.nextDueAt,
    status:
      last.outcome === 'delivered' ? 'delivered' : ['failed', 'expired'].includes(last.outcome) ? 'failed' : 'pending',
    statusCode: last.statusCode,
    attempts: known
      .filter(({ probe, probes }) => !probe || probes <= 20 || last.probes - probes < 20)
      .map((attempt) => ({
        attempt: attempt.attempt,
        probe: attempt.probe,
        probes: attempt.probes,
        startedAt: attempt.startedAt,
        dueAt: attempt.dueAt,
        durationMs: attempt.durationMs,
        statusCode: attempt.statusCode,
        errorCode: attempt.errorCode,
        errorDetail: attempt.errorDetail,
        outcome: attempt.outcome,
        decision: attempt.decision,
        responseBody: attempt.responseBody,
      })),
  };
}

const oneDelivery = fc.record({
  event: fc.integer({ min: 0, max: 30 }),
  series: fc.constantFrom(0, 0, 0, 1),
  device: fc.constantFrom('device-1', 'device-2', 'a,b"{}\\ é NULL'),
  type: fc.constantFrom('position', 'position_sleep', 'ignition_on'),
  /** Few distinct milliseconds over three days, so that ties and partition boundaries are common. */
  day: fc.constantFrom(0, 1, 2),
  ms: fc.constantFrom(0, 1, 43_199_999, 86_399_999),
  retries: fc.integer({ min: 0, max: 4 }),
  end: fc.constantFrom(...(['delivered', 'failed', 'timed_out', 'disabled', 'expired', 'open'] as const)),
  probes: fc.constantFrom(0, 0, 0, 0, 1, 39, 41, 70),
  probesBefore: fc.nat({ max: 4 }),
  /** Some logs have lost attempt 1 with their head. */
  headless: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

/**
 * A log as a partition may hold it: each delivery's attempts in order, those of different deliveries interleaved, some
 * logged twice. `at` numbers decide the interleaving.
 */
export function anyLog(fleetId: string): fc.Arbitrary<WebhookAttempt[]> {
  return fc
    .tuple(
      fc.uniqueArray(oneDelivery, {
        maxLength: 25,
        selector: ({ event, series }) => `${String(event)}/${String(series)}`,
      }),
      fc.infiniteStream(fc.nat(1_000)),
    )
    .map(([deliveries, at]) => {
      const days = Math.floor(NOW / 86_400_000) - 2;
      const queues = deliveries.map(
        ({ event, series, device, type, day, ms, retries, end, headless, probes, probesBefore }) => {
          const firstAttemptAt = (days + day) * 86_400_000 + ms;
          const subscriptionId = uuidOf(`subscription ${type}`);
          const eventId = uuidOf(`${fleetId} ${String(event)}`);
          const first = { fleetId, eventId, series, deviceId: device, eventType: type, subscriptionId, firstAttemptAt };
          const attempts = attemptsOf({ ...first, body: null }, retries, end).map((attempt) =>
            attempt.attempt === 1 ? { ...attempt, body: `{"of":"${device}"}` } : attempt,
          );
          return withProbes(attempts, probes, Math.min(probesBefore, retries)).slice(headless ? 1 : 0);
        },
      );
      return interleave(queues, () => Number(at.next().value));
    });
}

function interleave(queues: WebhookAttempt[][], next: () => number): WebhookAttempt[] {
  const log: WebhookAttempt[] = [];
  for (let open = queues.filter((queue) => queue.length > 0); open.length > 0;) {
    const attempt = open[next() % open.length]?.shift();
    if (attempt !== undefined) log.push(...Array<WebhookAttempt>(next() % 10 === 0 ? 2 : 1).fill(attempt));
    open = open.filter((queue) => queue.length > 0);
  }
  return log;
}
