import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { counts, differences, none } from '../support/differences.js';
import { type Feed, generatedFeed, recordedFeeds, trafficOf } from '../support/feeds.js';
import { readLogs, seenDeliveries } from '../support/places.js';
import type { PlainPing } from '../support/plain-rules.js';
import { ok, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { deliveryLine, eventLine, eventTypes } from '../support/subscriptions.js';
import { sharedDataDir } from '../support/waypost-config.js';
import { checkSignatures, type FeedRun, prepareFeed, publishFeed, type SeenRun, seeRun } from './feed-run.js';
import { publishUnusable, type UnusableRecord } from './unusable-records.js';

const startAt = Date.UTC(2026, 0, 15, 8);
const disturbedDevice = 'tracker-001';

/** Clocks at the limits of R-3: two that it lets pass, and two that it does not. */
const clocks: readonly PlainPing[] = Object.entries({
  '5 min ahead': 300_000,
  'further ahead': 300_001,
  '15 days behind': -1_296_000_000,
  'more than 15 days behind': -1_296_000_001,
}).map(([name, aheadMs]) => ({
  deviceId: `clock ${name}`,
  eventTime: new Date(startAt + aheadMs).toISOString(),
  receivedTime: new Date(startAt).toISOString(),
  latitude: 52.1,
  longitude: 11.6,
}));

const traffic = { seed: 20, vehicles: 60, durationMs: 1_800_000, startAt };
const generated = generatedFeed('pipeline-generated', traffic, clocks);
/** The large recordings only in `npm run test:long`: decide-ping.recorded.spec.ts has their counts too. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const feeds = [generated, ...recordedFeeds('pipeline', (name) => isLong || name.includes('envirocar'))];

const waypost = runningWaypost(sharedDataDir());
const startedAt = Date.now();
const runs: FeedRun[] = [];
const seen = new Map<Feed, SeenRun>();
let receiver: Receiver;
let unusable: readonly UnusableRecord[];

/** Half of the disturbed device's pings, the records that no ping can be made of, then the rest. */
async function publishDisturbed(): Promise<void> {
  const [file = '', ...flags] = await generated.publishArguments(waypost.dataDir);
  const lines = (await readFile(file, 'utf8')).split('\n');
  const own = lines.flatMap((line, index) => (line.includes(`"${disturbedDevice}"`) ? [index] : []));
  const cut = own[own.length >> 1] ?? 0;
  const publish = async (part: readonly string[]): Promise<void> => {
    await writeFile(file, part.join('\n'));
    await waypost.cli('publish', file, ...flags, '--fleet', generated.fleet);
  };
  await publish(lines.slice(0, cut));
  unusable = await publishUnusable(waypost, { fleet: generated.fleet, deviceId: disturbedDevice, nowMs: startAt });
  await publish(lines.slice(cut));
}

async function publishRecordings(): Promise<void> {
  for (const feed of feeds) if (feed !== generated) await publishFeed(waypost, feed);
}

function seenOf(feed: Feed): SeenRun {
  const run = seen.get(feed);
  if (run === undefined) throw new Error(`${feed.name} has not come to its end.`);
  return run;
}

beforeAll(async () => {
  receiver = await startReceiver(ok);
  for (const feed of feeds) runs.push(await prepareFeed(waypost, receiver, feed));
  await Promise.all([publishDisturbed(), publishRecordings()]);
  await waypost.cli('wait', '--idle', '2');
  for (const call of receiver.calls) checkSignatures(runs, call);
  const logs = await readLogs(waypost);
  for (const run of runs) {
    const pageSizes = run.feed === generated ? { v1: 97, v2: 61 } : { v1: 499, v2: 333 };
    seen.set(run.feed, await seeRun(waypost, run, { receiver, logs, from: startedAt, pageSizes }));
  }
}, 300_000);

afterAll(() => receiver.close());

describe(`The pipeline (R-1, R-7, R-12, R-19, R-31, R-33) on ${trafficOf(feeds)}`, () => {
  for (const feed of feeds) {
    describe(feed.name, () => {
      it('gives the expected number of events of each type at all five places', () => {
        const { outcome, places, subscriptions } = seenOf(feed);
        const { receiver: received, attemptsLog, v1, v2 } = seenDeliveries(places, subscriptions);
        const expected = counts(outcome.events.map(({ eventType }) => eventType));
        const found = Object.entries({ fleetEvents: places.fleetEvents, received, attemptsLog, v1, v2 });
        const typesAt = found.map(([place, all]) => [place, counts(all.map(({ eventType }) => eventType))]);
        expect(Object.fromEntries(typesAt)).toEqual(Object.fromEntries(found.map(([place]) => [place, expected])));
      });

      it('gives exactly the events of the rules, once each, with the documented ids', () => {
        const { outcome, expected, places, subscriptions } = seenOf(feed);
        const events = differences(places.fleetEvents.map(eventLine), outcome.events.map(eventLine));
        expect(events).toEqual(none);
        expect(new Set(expected.map(({ eventId }) => eventId)).size).toBe(expected.length);
        const lines = expected.map(deliveryLine);
        for (const [place, deliveries] of Object.entries(seenDeliveries(places, subscriptions)))
          expect({ place, ...differences(deliveries.map(deliveryLine), lines) }).toEqual({ place, ...none });
      });

      it('signs every delivery so that the public library and X-Service-Signature agree', () => {
        const { signatures, places } = seenOf(feed);
        expect(signatures.problems.slice(0, 5)).toEqual([]);
        expect(signatures.checked).toBe(places.calls.length);
      });

      it('delivers each event at the first attempt that is answered in time, in one request per attempt', () => {
        const { places, expected } = seenOf(feed);
        const answered = places.attempts.filter(({ errorCode }) => errorCode !== 'timeout');
        const endings = answered.map((one) => `${String(one.statusCode ?? one.errorCode)} ${one.outcome}`);
        expect(counts(endings)).toEqual({ '200 delivered': expected.length });
        // On a busy machine this process may not get to answer within 5 s.
        expect(answered.filter(({ attempt }) => attempt === 1).length).toBeGreaterThan(expected.length / 2);
        const requests = places.calls.map(
          (call) => `${call.path} ${call.eventId} ${String(call.headers['x-service-attempt'])}`,
        );
        expect(new Set(requests).size).toBe(requests.length);
        expect(requests.length).toBeLessThanOrEqual(places.attempts.length);
      });

      it('shows in v1 the bytes that were received, newest last', () => {
        const { places } = seenOf(feed);
        const received = new Map(places.calls.map((call) => [call.eventId, call.body]));
        const different = places.v1.items.filter(
          ({ event_id, body }) => received.get(event_id)?.equals(Buffer.from(body)) !== true,
        );
        expect(different.slice(0, 5)).toEqual([]);
        const times = places.v1.items.map(({ attempts }) => attempts[0]?.started_at ?? '');
        expect(times).toEqual([...times].sort());
      });

      it('shows in v2 the payload that was received, as delivered', () => {
        const { places, expected } = seenOf(feed);
        const received = new Map(places.calls.map((call) => [call.eventId, call.body]));
        const different = places.v2.items.filter(({ eventId, payload }) => {
          const body: unknown = JSON.parse(received.get(eventId)?.toString() ?? 'null');
          return JSON.stringify(body) !== JSON.stringify(payload);
        });
        expect(different.slice(0, 5)).toEqual([]);
        const endings = places.v2.items.map(({ delivery }) =>
          [delivery.status, delivery.statusCode, delivery.attemptCount - delivery.attempts.length].join(' '),
        );
        expect(counts(endings)).toEqual({ 'delivered 200 0': expected.length });
      });

      const { published } = feed;
      if (published === null) {
        it('holds some of everything that the rules tell apart', () => {
          expect(Object.entries(countsOf(seenOf(feed))).filter(([, count]) => count === 0)).toEqual([]);
        });
      } else {
        it('agrees with the counts that were published with the recording', () => {
          expect(countsOf(seenOf(feed))).toMatchObject(published);
        });
      }
    });
  }
});

describe('Records that no ping can be made of (R-2)', () => {
  it('come in between the pings of a device', async () => {
    const pings = await waypost.cliLines<{ partition: number; offset: number }>(
      ...['read', 'telemetry.pings', '--device', disturbedDevice, '--until-end'],
    );
    const offsets = pings.filter(({ partition }) => partition === unusable[0]?.partition).map(({ offset }) => offset);
    for (const { offset } of unusable) {
      expect(Math.min(...offsets)).toBeLessThan(offset);
      expect(Math.max(...offsets)).toBeGreaterThan(offset);
    }
  });

  it('end up with their original bytes, place and reason in telemetry.rejected', async () => {
    const rejected = await rejectedRecords();
    for (const { reason, key, bytes, partition, offset } of unusable) {
      const found = rejected.filter((one) => one.sourcePartition === partition && one.sourceOffset === offset);
      expect(found).toEqual([
        expect.objectContaining({
          sourceTopic: 'telemetry.pings',
          reason,
          sourceKey: Buffer.from(key).toString('base64'),
          sourceValue: bytes.toString('base64'),
        }),
      ]);
    }
  });

  it('are joined there only by the ping whose clock is too far ahead', async () => {
    const pipelineKeys = [disturbedDevice, ...clocks.map(({ deviceId }) => deviceId)];
    const keys = (await rejectedRecords()).map(({ sourceKey }) => Buffer.from(sourceKey, 'base64').toString());
    expect(counts(keys.filter((key) => pipelineKeys.includes(key)))).toEqual({
      [disturbedDevice]: unusable.length,
      'clock further ahead': 1,
    });
  });
});

interface Rejected {
  readonly sourceTopic: string;
  readonly sourcePartition: number;
  readonly sourceOffset: number;
  readonly sourceKey: string;
  readonly sourceValue: string;
  readonly reason: string;
}

async function rejectedRecords(): Promise<Rejected[]> {
  const lines = await waypost.cliLines<{ value: Rejected }>('read', 'telemetry.rejected', '--until-end');
  return lines.map(({ value }) => value);
}

/** By the names of the table that comes with the recordings. */
function countsOf({ outcome }: SeenRun): Record<string, number> {
  return {
    ...Object.fromEntries(eventTypes.map((type) => [type, 0])),
    ...counts(outcome.events.map(({ eventType }) => eventType)),
    'dropped by window': outcome.droppedByWindow,
    'late or duplicate': outcome.lateOrDuplicate,
    'invalid fix': outcome.invalidFix,
  };
}
