import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ReceivedCall, type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'geofences';
const start = Date.UTC(2026, 4, 5, 8);
function timeOf(second: number): string {
  return new Date(start + second * 1_000).toISOString();
}

/** Beyond the antimeridian from each other, 1.1 km apart. */
const west = { latitude: -17, longitude: 179.995 };
const east = { latitude: -17, longitude: -179.995 };
const faraway = { latitude: -17.5, longitude: 179 };

const waypost = runningWaypost(sharedDataDir());
let receiver: Receiver;

function api(method: string, path: string, json?: object): Promise<{ id: string }> {
  return waypost.api(fleet, method, `/public/v1/geofences${path}`, json);
}

/** Each at its second, all in the log when it returns. */
async function drive(...fixes: readonly (readonly [second: number, place: typeof west])[]): Promise<void> {
  const pings = fixes.map(([second, place]) => ({ deviceId: 'boat-1', eventTime: timeOf(second), ...place }));
  await waypost.publish(fleet, pings);
  await waypost.cli('wait', '--idle', '1');
}

function receivedEvents(): object[] {
  return receiver.calls.map(({ body }: ReceivedCall) => {
    const { eventType, eventTime, eventData } = JSON.parse(body.toString()) as {
      eventType: string;
      eventTime: string;
      eventData: Record<string, unknown>;
    };
    const { geofenceId, geofenceName, enteredAt, durationInSeconds, deviceId } = eventData;
    return { eventType, eventTime, deviceId, geofenceId, geofenceName, enteredAt, durationInSeconds };
  });
}

beforeAll(async () => {
  receiver = await startReceiver(() => ({ type: 'respond', status: 200 }));
  await waypost.createFleet(fleet);
  await subscribe(waypost, { fleet, url: receiver.url('/geofences'), types: ['geofence_in', 'geofence_out'] });
}, 60_000);

afterAll(() => receiver.close());

describe('Geofences from the API to the receiver (R-8)', () => {
  it('reports only vehicles that enter and leave, and no other change of a geofence', async () => {
    await drive([0, faraway]);
    const { id: harbour } = await api('POST', '', {
      name: 'Harbour',
      shape: { type: 'circle', center: west, radiusInMeters: 300 },
    });
    const { id: strait } = await api('POST', '', {
      name: 'Strait',
      shape: {
        type: 'polygon',
        coordinates: [
          [
            [179.998, -17.1],
            [-179.9, -17.1],
            [-179.9, -16.9],
            [179.998, -16.9],
          ],
        ],
      },
    });
    // The next fix is the first that sees them: it sets the state. The one after it enters.
    await drive([60, faraway], [120, west], [180, east], [240, east], [250, east]);
    const harbourOut = { eventType: 'geofence_out', geofenceId: harbour, geofenceName: 'Harbour' };
    const expected = [
      { eventType: 'geofence_in', eventTime: timeOf(120), geofenceId: harbour, geofenceName: 'Harbour' },
      { eventType: 'geofence_in', eventTime: timeOf(180), geofenceId: strait, geofenceName: 'Strait' },
      { ...harbourOut, eventTime: timeOf(240), enteredAt: timeOf(120), durationInSeconds: 120 },
    ].map((event) => ({ deviceId: 'boat-1', ...event }));
    await until(() => expect(receivedEvents()).toHaveLength(expected.length));
    expect(new Set(receivedEvents())).toEqual(new Set(expected));

    // Deleted, and another made around the vehicle: the vehicle has not moved.
    await api('DELETE', `/${strait}`);
    await api('POST', '', { name: 'Bay', shape: { type: 'circle', center: east, radiusInMeters: 500 } });
    await drive([300, east], [310, east]);
    expect(receivedEvents()).toHaveLength(expected.length);
    // Moved onto the vehicle and away from it: the next fixes enter and leave.
    await api('PATCH', `/${harbour}`, {
      name: 'Harbour, east',
      shape: { type: 'circle', center: east, radiusInMeters: 300 },
    });
    await drive([320, east]);
    await api('PATCH', `/${harbour}`, { shape: { type: 'circle', center: west, radiusInMeters: 300 } });
    await drive([330, east], [340, east]);
    const moved = { deviceId: 'boat-1', geofenceId: harbour, geofenceName: 'Harbour, east' };
    const more = [
      { ...moved, eventType: 'geofence_in', eventTime: timeOf(320) },
      { ...moved, eventType: 'geofence_out', eventTime: timeOf(340), enteredAt: timeOf(320), durationInSeconds: 20 },
    ];
    await until(() => expect(receivedEvents()).toHaveLength(expected.length + more.length));
    expect(new Set(receivedEvents().slice(expected.length))).toEqual(new Set(more));
  }, 120_000);
});
