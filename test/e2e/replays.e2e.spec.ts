import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { walkV2 } from '../support/delivery-history.js';
import { groupBy } from '../support/group-by.js';
import { readLogs } from '../support/places.js';
import { type ReceivedCall, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe, type Subscription } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'replays';
const devices = 30;
const pingsEach = 10;
const positions = devices * pingsEach;
/** Every third device's events are refused until the endpoint is fixed. */
const refused = positions / 3;

interface Replay {
  readonly replayId: string;
  readonly series: number;
  readonly state: string;
  readonly progress: { readonly matched?: number; readonly sent: number };
}

const waypost = runningWaypost(sharedDataDir());
const startedAt = Date.now();
let receiver: Receiver;
let subscription: Subscription;
let isFixed = false;

function deviceOf({ body }: ReceivedCall): number {
  const { eventData } = JSON.parse(body.toString()) as { eventData: { deviceId: string } };
  return Number(eventData.deviceId.replace('van-', ''));
}

function api(method: string, path: string, json?: object): Promise<Replay> {
  return waypost.api(fleet, method, `/public/v1/webhook-subscriptions/${subscription.id}/replays${path}`, json);
}

function window() {
  return { startDate: new Date(startedAt).toISOString(), endDate: new Date(Date.now() + 60_000).toISOString() };
}

function reached({ replayId }: Replay, condition: (replay: Replay) => boolean): Promise<Replay> {
  return until(
    async () => {
      const replay = await api('GET', `/${replayId}`);
      if (!condition(replay)) throw new Error(`Not yet: ${JSON.stringify(replay)}`);
      return replay;
    },
    { timeoutMs: 60_000 },
  );
}

beforeAll(async () => {
  receiver = await startReceiver((call) => ({
    type: 'respond',
    status: isFixed || deviceOf(call) % 3 !== 0 ? 200 : 400,
  }));
  await waypost.createFleet(fleet);
  const [created] = await subscribe(waypost, { fleet, url: receiver.url('/replays'), types: ['position'] });
  if (created === undefined) throw new Error('No subscription was made.');
  subscription = created;
  const pings = Array.from({ length: positions }, (_, index) => ({
    deviceId: `van-${String(index % devices)}`,
    eventTime: new Date(Date.UTC(2026, 4, 4, 8) + Math.floor(index / devices) * 180_000).toISOString(),
    latitude: 52.1,
    longitude: 11.6,
  }));
  await waypost.publish(fleet, pings);
  await waypost.cli('wait', '--idle', '1');
}, 120_000);

afterAll(() => receiver.close());

describe('A replay of failed deliveries while the delivery application is killed', () => {
  let replay: Replay;
  let before: readonly ReceivedCall[];

  beforeAll(async () => {
    isFixed = true;
    before = [...receiver.calls];
    const asked = await api('POST', '', { ...window(), status: 'failed', ratePerSecond: 25 });
    await reached(asked, ({ progress }) => progress.sent > 0);
    waypost.kill('webhook-delivery');
    replay = await reached(asked, ({ state }) => state === 'completed');
    await waypost.cli('wait', '--idle', '1');
  }, 120_000);

  it('ends and reports every delivery', () => {
    expect(before).toHaveLength(positions);
    expect(replay).toMatchObject({ series: 1, progress: { matched: refused, sent: refused } });
  });

  it('writes each failed delivery again, in a new series', async () => {
    const { attempts } = await readLogs(waypost);
    const ours = attempts.filter(({ subscriptionId }) => subscriptionId === subscription.id);
    expect(ours.filter(({ outcome }) => outcome === 'failed')).toHaveLength(refused);
    expect(ours.filter(({ outcome }) => outcome === 'delivered')).toHaveLength(positions);
  });

  it('sends the same events with the same bytes as at first', () => {
    const again = receiver.calls.slice(before.length);
    const wanted = new Map(before.filter((call) => deviceOf(call) % 3 === 0).map((call) => [call.eventId, call.body]));
    expect(new Set(again.map(({ eventId }) => eventId))).toEqual(new Set(wanted.keys()));
    expect(again.filter(({ eventId, body }) => wanted.get(eventId)?.equals(body) !== true)).toEqual([]);
  });

  it('appears in the history beside the first delivery', async () => {
    const { items } = await until(async () => {
      const walk = await walkV2(waypost, { fleet, from: startedAt, pageSize: 500 });
      expect(walk.items).toHaveLength(positions + refused);
      return walk;
    });
    const twice = [...groupBy(items, ({ eventId }) => eventId).values()].filter(({ length }) => length === 2);
    expect(twice).toHaveLength(refused);
    for (const both of twice) expect(both.map(({ delivery }) => delivery.status)).toEqual(['failed', 'delivered']);
  });
});

describe('A replay that is cancelled (R-30)', () => {
  it('stops soon, and reports what it has sent', async () => {
    const asked = await api('POST', '', { ...window(), ratePerSecond: 5 });
    await reached(asked, ({ progress }) => progress.sent > 0);
    await api('POST', `/${asked.replayId}/cancel`);
    const replay = await reached(asked, ({ state }) => state === 'cancelled');
    expect(replay).toMatchObject({ series: 2, progress: { matched: positions } });
    expect(replay.progress.sent).toBeLessThan(positions / 3);
  }, 60_000);
});

describe('A replay of what got one status code (R-30)', () => {
  it('goes by the last series: what was refused at first has been accepted since', async () => {
    const asked = async (statusCode: number) => {
      const replay = await api('POST', '', { ...window(), statusCode });
      return reached(replay, ({ state }) => state === 'completed');
    };
    expect((await asked(400)).progress).toEqual({ matched: 0, sent: 0 });
    expect((await asked(200)).progress).toEqual({ matched: positions, sent: positions });
  }, 60_000);
});
