import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { openRecordPublisher } from '@waypost/platform/without-nest';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { eventOf } from '../support/samples.js';
import { subscribe } from '../support/subscriptions.js';
import { sharedDataDir } from '../support/waypost-config.js';

const fleet = 'analysts';
const waypost = runningWaypost(sharedDataDir());
const MINUTE_MS = 60_000;
const start = Date.UTC(2026, 4, 4, 8);
let receiver: Receiver;

/** Has no subscription to routes. */
const plainFleet = 'positions-only';
/** Made with `--routes`, without a subscription. */
const routesFleet = 'routes-for-the-log';

/** An hour on the road with the ignition on, one fix per minute, some 500 m apart. */
function driveOf(deviceId: string) {
  return Array.from({ length: 61 }, (_, minute) => ({
    deviceId,
    eventTime: new Date(start + minute * MINUTE_MS).toISOString(),
    latitude: 52.1 + minute * 0.0045,
    longitude: 11.6,
    speedInKmh: 30,
    ignition: true,
  }));
}

beforeAll(async () => {
  receiver = await startReceiver();
  await waypost.cli('fleet', 'create', fleet);
  await subscribe(waypost, { fleet, url: receiver.url('/analysts'), types: ['position', 'route_started'] });
  await waypost.cli('fleet', 'create', plainFleet);
  const made = await waypost.cli('fleet', 'create', routesFleet, '--routes');
  expect(made).toMatch(/ wp_[A-Za-z0-9_-]+\n$/);
  await waypost.publish(fleet, driveOf('van-1'));
  await waypost.publish(plainFleet, driveOf('van-2'));
  await waypost.publish(routesFleet, driveOf('van-3'));
  await waypost.cli('wait', '--idle', '1');
}, 120_000);

afterAll(() => receiver.close());

describe('An analyst (R-39)', () => {
  it('finds routes in the log only of fleets that want them (R-9)', async () => {
    const lines = await waypost.cliLines<{ value: { fleetId: string; eventType: string } }>(
      ...['read', 'fleet.events', '--until-end'],
    );
    const typesOf = (id: string): string[] => [
      ...new Set(lines.flatMap(({ value }) => (value.fleetId === id ? [value.eventType] : []))),
    ];
    expect(typesOf(fleet)).toEqual(['position', 'route_started']);
    expect(typesOf(routesFleet)).toEqual(['position', 'route_started']);
    expect(typesOf(plainFleet)).toEqual(['position']);
  });

  it('sees what a window of five minutes would change, as a table and as a page', async () => {
    const report = join(waypost.dataDir, 'backtest.html');
    const printed = await waypost.cli('backtest', '--device', 'van-1', '--window', '5m', '--report', report);
    const row = printed.split('\n').find((line) => line.startsWith(fleet));
    // 60 minutes: every third against every fifth ping, both with the first; every fifteenth minute they agree.
    expect(row?.split(/\s+/)).toEqual([fleet, 'van-1', 'position', '21', '13', '-8', '8', '16']);
    expect(await readFile(report, 'utf8')).toContain('positionWindowMs');
  });

  it('counts routes in a back-test only for fleets that had them on', async () => {
    const printed = (device: string, rules = 'all') =>
      waypost.cli('backtest', '--device', device, '--window', '5m', '--rules', rules);
    expect(await printed('van-2')).not.toContain('route_started');
    expect(await printed('van-3')).toContain('route_started');
    expect(await printed('van-3', 'positions')).not.toContain('route_started');
  });

  it('proves that the log holds exactly the events of the pings, and that each has its deliveries', async () => {
    const printed = await waypost.cli('verify');
    const [, recomputed, logged] = /^events: (\d+) recomputed from the pings, (\d+) in/m.exec(printed) ?? [];
    expect(Number(recomputed)).toBeGreaterThanOrEqual(21);
    expect(logged).toBe(recomputed);
    expect(printed).toMatch(/^deliveries: \d+ expected/m);
    expect(receiver.callsTo('/analysts')).toHaveLength(22);
  });

  it('reports an event that no ping has made', async () => {
    const { brokers, registryUrl } = waypost.info();
    const { fleetEvents } = createAvroCodecs({ registry: createSchemaRegistry({ url: registryUrl }) });
    await fleetEvents.prepare();
    const publisher = await openRecordPublisher({ brokers, clientId: 'forger' }, topics.fleetEvents.name);
    const value = fleetEvents.encode(eventOf({ fleetId: 'nobody', deviceId: 'ghost' }));
    await publisher.publish([{ key: Buffer.from('ghost'), value }]);
    await publisher.close();
    const { code, stdout, stderr } = await waypost.tryCli('verify');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('1 differences') });
    expect(stdout).toMatch(/unexpected: 1 \(position of ghost/);
  });
});
