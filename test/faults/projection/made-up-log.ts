import { deliveryOfAttempt, type TelemetryPing, type WebhookAttempt, type WebhookDelivery } from '@waypost/domain';
import { chance, pick, type Random, wholeBetween } from '../../../tools/simulator/random.js';
import { documentedEventId } from '../../support/documented-event-id.js';
import { pingOf } from '../../support/samples.js';

/** An endless attempt log that the random numbers decide alone. Attempts of one delivery come in their order. */
export interface MadeUpLog {
  /** The next attempt; `nowMs` is the time at which it is made. */
  next(nowMs: number): WebhookAttempt;
  /** A delivery of which no attempt is made for some seconds, or ever. */
  nextUnsent(nowMs: number): WebhookDelivery;
}

const DAY_MS = 86_400_000;
const FLEETS = 12;
const SUBSCRIPTIONS_OF_A_FLEET = 4;
/** About so many deliveries wait for their next attempt at a time. */
const OPEN_DELIVERIES = 400;
const RECENT_ATTEMPTS = 2_000;
const MOST_ATTEMPTS = 5;
const RETRY_MS = 2_000;
/** A delivery that has waited for two seconds is shown as one that waits. */
const LATE_MS = 5_000;
const PROBE_EVERY_MS = 15_000;
const SUSPENDED = 0.005;
/** So that some deliveries get more probes than the history has lines for. */
const STILL_SUSPENDED = 0.97;
/** Well beyond the 15 days of the history, so that no clock can make it a matter of opinion. */
const EXPIRED_DAYS = 18;
const KEPT_DAYS = 13;
/** One subscription has more minutes in a day than the row of its figures has room for. */
const OF_THE_BUSY = 0.3;
const EARLIER_TODAY = 0.4;
const MOST_MINUTES_AGO = 300;
/** Of the next attempts, and of the first ones: their subscription was paused until then, for up to days. */
const AFTER_A_PAUSE = 0.05;

const LARGE_BODY_CHARACTERS = 60_000;
/** What text columns, JSON and COPY each have to carry over unharmed. */
const AWKWARD = [
  'plain',
  'quote " \\ /',
  'tab\tand\nnewline',
  'null \0 char',
  'žluťoučký 車両 🚚',
  '\\N',
  '\u2028',
  '',
] as const;

export function createMadeUpLog(random: Random): MadeUpLog {
  const eventId = documentedEventId();
  /** The newest attempt of each delivery that is not over. */
  const open: WebhookAttempt[] = [];
  /** What was logged last. */
  const recent: WebhookAttempt[] = [];
  /** First attempts of deliveries that are in their log already. */
  const late: { readonly first: WebhookAttempt; readonly fromMs: number }[] = [];
  let made = 0;
  /** Follows a repeat of the attempt before it at once, so that a projector reads both in one batch. */
  let held: WebhookAttempt | null = null;

  function begin(nowMs: number): WebhookAttempt {
    const number = made++;
    const isBusy = chance(random, OF_THE_BUSY);
    const fleet = isBusy ? 1 : wholeBetween(random, 1, FLEETS);
    const subscriptionId = uuid(fleet * 100 + (isBusy ? 1 : wholeBetween(random, 1, SUBSCRIPTIONS_OF_A_FLEET)));
    const daysAgo = chance(random, 0.01) ? EXPIRED_DAYS : chance(random, 0.2) ? wholeBetween(random, 0, KEPT_DAYS) : 0;
    const minutesAgo = chance(random, EARLIER_TODAY) ? wholeBetween(random, 1, MOST_MINUTES_AGO) : 0;
    const firstAttemptAt = nowMs - daysAgo * DAY_MS - minutesAgo * 60_000;
    const waitedDays = chance(random, AFTER_A_PAUSE) ? wholeBetween(random, 0, Math.max(0, KEPT_DAYS - daysAgo)) : 0;
    const deliveryCreatedAt = firstAttemptAt - waitedDays * DAY_MS - wholeBetween(random, 1, 300);
    const eventTime = deliveryCreatedAt - wholeBetween(random, 0, 5_000);
    const deviceId = `device ${String(number % 97)} ${pick(random, AWKWARD)}`;
    const eventType = isBusy ? 'position' : pick(random, ['position', 'position_sleep', 'ignition_on']);
    const fleetId = `fleet-${String(fleet)}`;
    return {
      eventId: eventId(fleetId, subscriptionId, String(number), eventType, new Date(eventTime).toISOString()),
      subscriptionId,
      fleetId,
      deviceId,
      eventType,
      eventTime,
      firstAttemptAt,
      format: chance(random, 0.1) ? 'legacy-v1' : 'v1',
      series: chance(random, 0.1) ? wholeBetween(random, 1, 3) : 0,
      replayId: null,
      deliveryOffset: number,
      deliveryCreatedAt,
      dueAt: firstAttemptAt - wholeBetween(random, 0, 20),
      attempt: 1,
      body: bodyOf(number, random),
      ...NO_PROBE,
      ...(chance(random, SUSPENDED)
        ? { ...probed(firstAttemptAt, random), probe: true, probes: 1 }
        : outcomeOf(1, firstAttemptAt, random)),
    };
  }

  function goOn(before: WebhookAttempt, nowMs: number): WebhookAttempt {
    const dueMs = before.nextDueAt ?? before.startedAt;
    const mostLateMs = chance(random, AFTER_A_PAUSE) ? Math.max(50, nowMs - dueMs) : 50;
    const startedAt = dueMs + wholeBetween(random, 0, mostLateMs);
    if (chance(random, before.probe ? STILL_SUSPENDED : SUSPENDED)) return probe(before, startedAt);
    const attempt = before.probe ? before.attempt : before.attempt + 1;
    return {
      ...before,
      attempt,
      dueAt: before.nextDueAt ?? startedAt,
      body: null,
      probe: false,
      ...outcomeOf(attempt, startedAt, random),
    };
  }

  /** Of a suspended subscription. */
  function probe(before: WebhookAttempt, startedAt: number): WebhookAttempt {
    const attempt = before.probe ? before.attempt : before.attempt + 1;
    const numbers = { attempt, probe: true, probes: before.probes + 1 };
    return { ...before, ...numbers, dueAt: startedAt, body: null, ...probed(startedAt, random) };
  }

  /** As it may have been logged a second time: same number, another outcome, which must not count. */
  function repeat(of: WebhookAttempt): WebhookAttempt {
    return { ...of, durationMs: of.durationMs + 1_000, statusCode: 599 };
  }

  /** Sent once more by a replay: the same event and body in a series of its own. */
  function replay(of: WebhookAttempt, nowMs: number): WebhookAttempt {
    const times = { firstAttemptAt: nowMs, dueAt: nowMs, deliveryCreatedAt: nowMs - 1 };
    return { ...of, ...times, series: 10 + made++, replayId: uuid(made), ...NO_PROBE, ...outcomeOf(1, nowMs, random) };
  }

  function nextDelivery(nowMs: number): WebhookAttempt {
    const isReplay = chance(random, 0.05) && recent.length > 0;
    const of = isReplay ? takenFrom(recent, random, 'stays') : null;
    return of?.body != null ? replay(of, nowMs) : begin(nowMs);
  }

  function nextLate(nowMs: number): WebhookAttempt | undefined {
    return late[0] !== undefined && late[0].fromMs <= nowMs ? late.shift()?.first : undefined;
  }

  function nextInOrder(nowMs: number): WebhookAttempt {
    const isNew = open.length === 0 || chance(random, open.length > OPEN_DELIVERIES ? 0.3 : 0.7);
    const before = isNew ? null : takenFrom(open, random, 'leaves');
    const first = before === null ? nextLate(nowMs) : undefined;
    const attempt = first ?? (before === null ? nextDelivery(nowMs) : goOn(before, nowMs));
    if (attempt.outcome === 'retrying') open.push(attempt);
    if (before !== null && before.body === null && chance(random, 0.1)) {
      held = attempt;
      return repeat(before);
    }
    // Of some deliveries the head of the log is gone: nothing of them may show. What leaves the log of attempts by its age has
    // left that of deliveries before, so it is none of those that wait.
    const mayBeLost = first === undefined && attempt.body !== null && attempt.outcome === 'retrying';
    const isLost = mayBeLost && chance(random, 0.01);
    return isLost ? nextInOrder(nowMs) : attempt;
  }

  return {
    nextUnsent(nowMs) {
      const first = begin(nowMs);
      if (chance(random, 0.5)) late.push({ first, fromMs: nowMs + LATE_MS });
      const delivery = deliveryOfAttempt(first);
      if (delivery === null) throw new Error('The first record of a delivery has its body.');
      return delivery;
    },
    next(nowMs) {
      if (held === null && recent.length > 0 && chance(random, 0.04)) return repeat(takenFrom(recent, random, 'stays'));
      const attempt = held ?? nextInOrder(nowMs);
      if (attempt === held) held = null;
      recent.push(attempt);
      if (recent.length > RECENT_ATTEMPTS) recent.shift();
      return attempt;
    },
  };
}

function probed(startedAt: number, random: Random) {
  if (chance(random, 0.01)) return outcomeOf(1, startedAt, random);
  const retrying = { outcome: 'retrying', decision: 'temporary_status', nextDueAt: startedAt + PROBE_EVERY_MS };
  return { ...outcomeOf(1, startedAt, random), statusCode: 503, ...NO_ERROR, ...retrying };
}

function outcomeOf(attempt: number, startedAt: number, random: Random) {
  const durationMs = wholeBetween(random, 1, 900);
  const common = { startedAt, durationMs, url: `https://receiver.example/${String(wholeBetween(random, 1, 9))}` };
  if (chance(random, 0.55)) {
    return { ...common, ...ended('delivered', 'accepted'), statusCode: wholeBetween(random, 200, 204), ...NO_ERROR };
  }
  if (chance(random, 0.1)) {
    const responseBody = pick(random, AWKWARD);
    return { ...common, ...ended('failed', 'permanent_status'), statusCode: 410, ...NO_ERROR, responseBody };
  }
  if (chance(random, 0.05)) {
    const decision = pick(random, WITHOUT_ATTEMPT);
    const how = { statusCode: null, errorCode: decision, errorDetail: 'nothing was sent', responseBody: null };
    return { ...common, ...ended(decision === 'expired' ? decision : 'failed', decision), ...how };
  }
  const how = chance(random, 0.5)
    ? { statusCode: 503, ...NO_ERROR }
    : { statusCode: null, errorCode: 'timeout', errorDetail: 'no answer, "yet"', responseBody: null };
  if (attempt === MOST_ATTEMPTS) return { ...common, ...ended('failed', 'attempts_exhausted'), ...how };
  const nextDueAt = startedAt + durationMs + RETRY_MS * attempt;
  return { ...common, ...how, outcome: 'retrying', decision: 'temporary_status', nextDueAt };
}

/** what ends a delivery without a request. */
const WITHOUT_ATTEMPT = ['expired', 'subscription_disabled', 'subscription_deleted'] as const;
const NO_PROBE = { probe: false, probes: 0, retryAfterMs: null } as const;
const NO_ERROR = { errorCode: null, errorDetail: null, responseBody: null } as const;
function ended(outcome: string, decision: string) {
  return { outcome, decision, nextDueAt: null };
}

function bodyOf(number: number, random: Random): string {
  const filling = chance(random, 0.01) ? 'x'.repeat(wholeBetween(random, 1, LARGE_BODY_CHARACTERS)) : '';
  return JSON.stringify({ number, text: pick(random, AWKWARD), filling });
}

function takenFrom(list: WebhookAttempt[], random: Random, then: 'stays' | 'leaves'): WebhookAttempt {
  const index = Math.floor(random() * list.length);
  const [taken] = then === 'leaves' ? list.splice(index, 1) : list.slice(index, index + 1);
  if (taken === undefined) throw new Error('There is nothing to take.');
  return taken;
}

function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

/** An endless run of pings that the random numbers decide alone: late, repeated, without a fix, and ordinary ones. */
export interface MadeUpPings {
  next(nowMs: number): TelemetryPing;
  /** How many of them differ in device or time: each is a point of a path. */
  readonly points: () => number;
}

/** Their devices have the same names. */
const PING_FLEETS = ['fleet-1', 'fleet-2'] as const;
const DEVICES = 50;
const HOUR_MS = 3_600_000;
const LATEST_HOURS = 200;

export function createMadeUpPings(random: Random): MadeUpPings {
  const seen = new Set<string>();
  let last: TelemetryPing | null = null;

  function begin(ping: TelemetryPing): TelemetryPing {
    seen.add(`${ping.fleetId} ${ping.deviceId} ${String(ping.eventTime)}`);
    last = ping;
    return ping;
  }

  return {
    points: () => seen.size,
    next(nowMs) {
      // The second one says something else, and must not count.
      if (last !== null && chance(random, 0.05)) return { ...last, latitude: 1, longitude: 1 };
      // A device of another fleet may have the same name, and send at the same time.
      if (last !== null && chance(random, 0.05)) return begin({ ...last, fleetId: otherFleet(last), latitude: 2 });
      const lateMs = chance(random, 0.1) ? wholeBetween(random, 1, LATEST_HOURS) * HOUR_MS : 0;
      const deviceId = `device-${String(wholeBetween(random, 1, DEVICES))}`;
      const eventTime = nowMs - lateMs - wholeBetween(random, 0, 5_000);
      const hasFix = chance(random, 0.9);
      // Of a fix of old a device may send the place and say that it is not valid; another writes (0, 0).
      const isStale = chance(random, 0.05);
      const isZero = chance(random, 0.02);
      return begin(
        pingOf({
          fleetId: pick(random, PING_FLEETS),
          deviceId,
          eventTime,
          receivedTime: nowMs,
          positionValid: hasFix && !isStale,
          latitude: hasFix ? (isZero ? 0 : wholeBetween(random, -80, 80) + random()) : null,
          longitude: hasFix ? (isZero ? 0 : wholeBetween(random, -170, 170) + random()) : null,
          speedInKmh: chance(random, 0.5) ? wholeBetween(random, 0, 120) : null,
          ignition: chance(random, 0.3) ? chance(random, 0.5) : null,
          heading: chance(random, 0.5) ? wholeBetween(random, 0, 359) : null,
          odometerInMeters: chance(random, 0.5) ? wholeBetween(random, 0, 1e9) : null,
          rpm: chance(random, 0.3) ? wholeBetween(random, 0, 5_000) : null,
          fuelLevel: chance(random, 0.3) ? wholeBetween(random, 0, 100) : null,
        }),
      );
    },
  };
}

function otherFleet({ fleetId }: TelemetryPing): string {
  return PING_FLEETS[0] === fleetId ? PING_FLEETS[1] : PING_FLEETS[0];
}
