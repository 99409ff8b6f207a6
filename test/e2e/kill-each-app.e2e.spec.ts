import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { counts, differences, none } from '../support/differences.js';
import { type Feed, generatedFeed, recordedFeeds, trafficOf } from '../support/feeds.js';
import { groupBy } from '../support/group-by.js';
import { type Attempt, readLogs, seenDeliveries } from '../support/places.js';
import { type ReceivedCall, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { deliveryLine, eventLine, subscribe, type Subscription } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';
import { byDelivery, endOf, retries } from './delivery-attempts.js';
import { failsByScript, isReset, scriptedStatusCodes } from './failing-receiver.js';
import { checkSignatures, type FeedRun, prepareFeed, publishFeed, type SeenRun, seeRun } from './feed-run.js';

/** The recorded traffic adds little to generated traffic, and outbox-tenure.int.spec.ts kills public-api too. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const killedOnEachPush = ['telemetry-processor', 'webhook-delivery', 'history-projector'] as const;
const apps = isLong ? ([...killedOnEachPush, 'public-api'] as const) : killedOnEachPush;
const pingsPerSecond = '600';
/** Of one subscription: what can be in flight, and what has ended but is not yet in the log. */
const mostRepeats = 64;
/** An attempt takes at most 5 s, and a little until it is in the log. */
const longestInFlightMs = 6_000;

const startAt = Date.UTC(2026, 2, 3, 6);
const generated = generatedFeed('killed-generated', {
  seed: 21,
  vehicles: isLong ? 150 : 120,
  durationMs: 1_500_000,
  startAt,
});
const feeds = [generated, ...recordedFeeds('killed', (name) => isLong && name.includes('2017-04'))];
const refusedDevices = Array.from({ length: 20 }, (_, index) => `tracker-${String(index + 1).padStart(3, '0')}`);

interface Kill {
  readonly killedAt: number;
  /** When another process was there; it still had to start. */
  readonly replacedAt: number;
}

const waypost = runningWaypost(sharedDataDir());
const startedAt = Date.now();
const kills = new Map<string, Kill>();
const runs: FeedRun[] = [];
const seen = new Map<Feed, SeenRun>();
let receiver: Receiver;

async function subscribeRefusing({ fleet }: Feed): Promise<Subscription[]> {
  const url = receiver.url(`/${fleet}/refuses`);
  return subscribe(waypost, { fleet, url, types: ['position'], deviceIds: refusedDevices });
}

async function publishAll(): Promise<void> {
  await Promise.all(feeds.map((feed) => publishFeed(waypost, feed, '--rate', pingsPerSecond)));
}

/** One after the other, each amid traffic, and the next one only when the last has been replaced. */
async function killEachApp(): Promise<void> {
  for (const app of apps) {
    const before = receiver.calls.length;
    await until(() => expect(receiver.calls.length).toBeGreaterThan(before + 200), { timeoutMs: 60_000 });
    const killedAt = Date.now();
    const killed = waypost.kill(app);
    await until(() => expect(waypost.pidOf(app)).not.toBe(killed), { timeoutMs: 30_000 });
    kills.set(app, { killedAt, replacedAt: Date.now() });
  }
}

function seenOf(feed: Feed): SeenRun {
  const run = seen.get(feed);
  if (run === undefined) throw new Error(`${feed.name} has not come to its end.`);
  return run;
}

function killOf(app: string): Kill {
  const kill = kills.get(app);
  if (kill === undefined) throw new Error(`${app} was not killed.`);
  return kill;
}

/** The calls of each attempt, of which a kill may have made two. */
function callsByAttempt(calls: readonly ReceivedCall[]): (readonly ReceivedCall[])[] {
  const attemptOf = ({ path, eventId, headers }: ReceivedCall) =>
    [path, eventId, headers['x-service-attempt']].map(String).join(' ');
  return [...groupBy(calls, attemptOf).values()];
}

beforeAll(async () => {
  receiver = await startReceiver((call) => {
    checkSignatures(runs, call);
    return failsByScript(call);
  });
  for (const feed of feeds) {
    const more = feed === generated ? () => subscribeRefusing(feed) : undefined;
    runs.push(await prepareFeed(waypost, receiver, feed, more));
  }
  await Promise.all([publishAll(), killEachApp()]);
  await waypost.cli('wait', '--idle', '3');
  const logs = await readLogs(waypost);
  for (const run of runs) {
    const pageSizes = { v1: 211, v2: 157 };
    seen.set(run.feed, await seeRun(waypost, run, { receiver, logs, from: startedAt, pageSizes }));
  }
}, 300_000);

afterAll(() => receiver.close());

function signedAt({ headers }: { readonly headers: IncomingHttpHeaders }): number {
  return Number(headers['webhook-timestamp']) * 1_000;
}

describe(`SIGKILL of each application (R-25) amid ${trafficOf(feeds)}`, () => {
  it('comes while webhooks are on their way', () => {
    expect([...kills.keys()]).toEqual(apps);
    for (const { killedAt } of kills.values()) {
      const later = receiver.calls.filter(({ receivedAt }) => receivedAt > killedAt).length;
      expect(later).toBeGreaterThan(0);
      expect(receiver.calls.length - later).toBeGreaterThan(200);
    }
  });

  for (const feed of feeds) {
    describe(feed.name, () => {
      it('loses no event at any of the five places and makes up none', () => {
        const { outcome, expected, places, subscriptions } = seenOf(feed);
        expect(counts(places.fleetEvents.map(({ eventType }) => eventType))).toEqual(
          counts(outcome.events.map(({ eventType }) => eventType)),
        );
        expect(differences(places.fleetEvents.map(eventLine), outcome.events.map(eventLine))).toEqual(none);
        const found = seenDeliveries(places, subscriptions);
        const byType = counts(expected.map(({ eventType }) => eventType));
        for (const [place, deliveries] of Object.entries(found)) {
          expect({ place, ...counts(deliveries.map(({ eventType }) => eventType)) }).toEqual({ place, ...byType });
          const unlike = differences(deliveries.map(deliveryLine), expected.map(deliveryLine));
          expect({ place, ...unlike }).toEqual({ place, ...none });
        }
      });

      it('numbers the attempts of each delivery without gap or repeat, and ends each delivery once', () => {
        const wrong = byDelivery(seenOf(feed).places.attempts).filter((attempts) => {
          const numbered = attempts.every(({ attempt }, index) => attempt === index + 1);
          const ended = attempts.map(({ outcome }) => outcome !== 'retrying').indexOf(true) === attempts.length - 1;
          return !numbered || !ended;
        });
        expect(wrong.slice(0, 3)).toEqual([]);
      });

      it('makes as many attempts as the answers of the receiver ask for', () => {
        const { places } = seenOf(feed);
        const deliveries = byDelivery(places.attempts);
        // This process may not get to answer within 5 s while an application starts again: those attempts prove nothing.
        const answered = deliveries.filter((attempts) => attempts.every(({ errorCode }) => errorCode !== 'timeout'));
        expect(answered.length).toBeGreaterThan(0.5 * deliveries.length);
        const wrong = answered
          .map((attempts) => ({
            attempts,
            asked: scriptedStatusCodes(attempts[0]?.eventId ?? '', attempts[0]?.url ?? '').join(),
          }))
          .filter(({ attempts, asked }) => attempts.map(({ statusCode }) => statusCode).join() !== asked);
        expect(wrong.slice(0, 3)).toEqual([]);
        expect(places.attempts.length).toBeGreaterThan(seenOf(feed).expected.length);
      });

      it('keeps the due times of retries, also of those that waited when the sender was killed', () => {
        const { attempts } = seenOf(feed).places;
        const all = retries(attempts);
        expect(attempts.filter(({ dueAt, startedAt: started }) => started < dueAt).slice(0, 3)).toEqual([]);
        expect(all.filter(({ before, retry }) => retry.dueAt !== before.nextDueAt).slice(0, 3)).toEqual([]);
        const { killedAt, replacedAt } = killOf('webhook-delivery');
        const waiting = all.filter(({ before, retry }) => endOf(before) < killedAt && retry.startedAt > replacedAt);
        expect(waiting.length).toBeGreaterThan(0);
      });

      it('repeats no attempt but those in flight when the sender was killed, with the same bytes', () => {
        const { places, subscriptions } = seenOf(feed);
        const { killedAt, replacedAt } = killOf('webhook-delivery');
        const answered = places.calls.filter(({ eventId = '', path, headers }) => {
          return !isReset(eventId, path, Number(headers['x-service-attempt']));
        });
        const repeated = callsByAttempt(answered).filter(({ length }) => length > 1);
        const wrong = repeated.filter(([first, second, ...more]) => {
          if (first === undefined || second === undefined || more.length > 0) return true;
          // What was sent before the kill may be read by the receiver a moment after it.
          // By the second in which each was signed: a busy receiver reads a request some time after it was sent.
          const inFlight = signedAt(first) <= killedAt && signedAt(first) + 1_000 > killedAt - longestInFlightMs;
          return !inFlight || second.receivedAt < replacedAt || !second.body.equals(first.body);
        });
        const said = wrong.map((calls) => calls.map(({ receivedAt, headers }) => ({ receivedAt, headers })));
        expect({ killedAt, replacedAt, wrong: said.slice(0, 3) }).toEqual({ killedAt, replacedAt, wrong: [] });
        expect(repeated.length).toBeLessThanOrEqual(mostRepeats * subscriptions.length);
      });

      it('sends the same bytes and valid signatures at every attempt', () => {
        const { places, signatures } = seenOf(feed);
        expect(signatures.problems.slice(0, 5)).toEqual([]);
        expect(signatures.checked).toBe(places.calls.length);
        const bodies = [...groupBy(places.calls, ({ path, eventId }) => `${path} ${eventId ?? ''}`).values()];
        const changed = bodies.filter(([first, ...rest]) => !rest.every(({ body }) => first?.body.equals(body)));
        expect(changed.slice(0, 3)).toEqual([]);
      });

      it('shows every attempt in v1 and v2, with the bytes and the end of each delivery', () => {
        const { places } = seenOf(feed);
        const logged = byDelivery(places.attempts).map((attempts) => lineOf(attempts));
        const body = new Map(places.calls.map((call) => [call.eventId, call.body.toString()]));
        const v1 = places.v1.items.map((event) =>
          [event.event_id, event.status_code, ...event.attempts.map(({ attempt }) => attempt)].join(' '),
        );
        const v2 = places.v2.items.map(({ eventId, delivery }) =>
          [eventId, delivery.statusCode, ...delivery.attempts.map(({ attempt }) => attempt)].join(' '),
        );
        expect(differences(v1, logged)).toEqual(none);
        expect(differences(v2, logged)).toEqual(none);
        expect(places.v1.items.filter((event) => event.body !== body.get(event.event_id)).slice(0, 3)).toEqual([]);
        const status = places.v2.items.map(({ delivery }) => `${delivery.status} ${String(delivery.statusCode)}`);
        const refused = places.attempts.filter(({ statusCode }) => statusCode === 401).length;
        expect(counts(status)).toEqual({
          'delivered 200': seenOf(feed).expected.length - refused,
          ...(refused > 0 ? { 'failed 401': refused } : {}),
        });
      });
    });
  }
});

function lineOf(attempts: readonly Attempt[]): string {
  const last = attempts.at(-1);
  return [last?.eventId, last?.statusCode, ...attempts.map(({ attempt }) => attempt)].join(' ');
}
