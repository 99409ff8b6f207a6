import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type V1Event, type V2Event, walkV1, walkV2 } from '../support/delivery-history.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'migrates';
const path = '/migrates';
const waypost = runningWaypost(sharedDataDir());
const startedAt = Date.now();
const first = Date.UTC(2026, 4, 4, 8);
const WINDOW_MS = 180_000;
let receiver: Receiver;
let v1: readonly V1Event[];
let v2: readonly V2Event[];

async function drive(count: number, from: number): Promise<void> {
  const pings = Array.from({ length: count }, (_, index) => ({
    deviceId: 'van-1',
    latitude: 52.1,
    longitude: 11.6,
    speedInKmh: 0,
    ignition: true,
    odometerInMeters: 123_456,
    eventTime: new Date(from + index * WINDOW_MS).toISOString(),
  }));
  await waypost.publish(fleet, pings);
  await waypost.cli('wait', '--idle', '1');
}

function bodies(): string[] {
  return receiver.callsTo(path).map(({ body }) => body.toString());
}

beforeAll(async () => {
  receiver = await startReceiver();
  // The format of the fleet is the one of its subscriptions, unless they say otherwise.
  await waypost.createFleet(fleet, { payloadFormat: 'legacy-v1' });
  const [created] = await subscribe(waypost, { fleet, url: receiver.url(path), types: ['position'] });
  const subscription = `/public/v1/webhook-subscriptions/${created?.id ?? ''}`;
  await drive(2, first);
  await waypost.api(fleet, 'PATCH', subscription, { payloadFormat: 'v1' });
  await drive(2, first + 2 * WINDOW_MS);
  const walk = { fleet, from: startedAt, pageSize: 100 };
  v1 = (await walkV1(waypost, walk)).items;
  v2 = (await walkV2(waypost, walk)).items;
  await waypost.api(fleet, 'POST', `${subscription}/replays`, {
    startDate: new Date(startedAt).toISOString(),
    endDate: new Date(Date.now() + 60_000).toISOString(),
  });
  await until(() => expect(bodies()).toHaveLength(8), { timeoutMs: 60_000 });
}, 180_000);

afterAll(() => receiver.close());

describe('A fleet that changes from legacy-v1 to v1 between its events (R-14)', () => {
  it('gets each event in the format of the time when it was fanned out', () => {
    const formats = bodies()
      .slice(0, 4)
      .map((body) => (body.includes('"event_id"') ? 'legacy-v1' : 'v1'));
    expect(formats).toEqual(['legacy-v1', 'legacy-v1', 'v1', 'v1']);
    expect(JSON.parse(bodies()[0] ?? '')).toEqual({
      event_id: expect.any(String),
      event: 'position',
      fleet_id: fleet,
      device_id: 'van-1',
      timestamp: first,
      lat: 52.1,
      lng: 11.6,
      speed: 0,
      ignition: 1,
      odometer: 123.5,
    });
  });

  it('shows the pushed bytes in v1 and their content in v2', () => {
    // Two first attempts may start in the same millisecond, in which case the history has an order of its own.
    const pushed = bodies().slice(0, 4).sort();
    expect(v1.map(({ body }) => body).sort()).toEqual(pushed);
    expect(v2.map(({ payload }) => JSON.stringify(payload)).sort()).toEqual(pushed);
  });

  it('is sent the same bytes again by a replay, whatever its format is now', () => {
    expect(bodies().slice(4).sort()).toEqual(bodies().slice(0, 4).sort());
  });
});
