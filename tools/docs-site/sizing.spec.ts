import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createAvroCodecs } from '@waypost/contracts';
import { decideFanOut } from '@waypost/domain';
import history from '../../docs/results/history.json' with { type: 'json' };
import { createMemoryRegistry } from '../../test/support/registry/memory-registry.js';
import { attemptOf, eventOf, NOON, pingOf, subscriptionOf } from '../../test/support/samples.js';
import { attemptsPerDelivery, MEASURED, sizingOf } from './sizing.js';

const SECONDS_PER_DAY = 86_400;
const DOCS = join(import.meta.dirname, '../../docs');
const city = {
  pingsPerSecond: 1_000,
  eventsPerPing: 0.1,
  subscriptionsPerEvent: 2,
  failureRate: 0,
  bodyBytes: 300,
  replicas: 3,
};

describe('The sizing', () => {
  it('follows pings to events, deliveries and attempts', () => {
    expect(sizingOf(city)).toMatchObject({ eventsPerSecond: 100, deliveriesPerSecond: 200, attemptsPerSecond: 200 });
  });

  it.each([
    [0, 1],
    [0.5, 1.9375],
    [1, 5],
  ])('counts at most five attempts per delivery (R-22): while %d of them fail, %d', (failureRate, attempts) => {
    expect(attemptsPerDelivery(failureRate)).toBe(attempts);
  });

  it('plans two processes at least, and with half of what one can do', () => {
    expect(sizingOf(city).processes).toEqual({
      telemetryProcessor: 2,
      webhookDelivery: 2,
      historyProjector: 2,
      publicApi: 2,
    });
    const busy = sizingOf({ ...city, pingsPerSecond: 250_000 });
    const half = MEASURED.projectedAttemptsPerSecond / 2;
    expect(busy.attemptsPerSecond).toBe(50_000);
    expect(busy.processes).toEqual({
      telemetryProcessor: 2,
      webhookDelivery: 12,
      historyProjector: Math.ceil(50_000 / half),
      publicApi: 2,
    });
  });

  it('leaves partitions for twice the processes, in a power of two', () => {
    expect(sizingOf(city).partitions).toBe(4);
    expect(sizingOf({ ...city, pingsPerSecond: 250_000 }).partitions).toBe(32);
  });

  it('keeps the history for 15 days, a day for walks and the one that is dropped, and the logs in every replica', () => {
    const { postgresBytes, kafkaBytes } = sizingOf(city);
    expect(postgresBytes).toBe(200 * MEASURED.historyBytesPerDelivery * 17 * SECONDS_PER_DAY);
    expect(kafkaBytes).toBe((1_000 * 160 + 100 * 250 + 200 * 900 + 200 * 450) * 17 * SECONDS_PER_DAY * 3);
  });

  it('needs more CPU time for the same attempts while some fail', () => {
    const healthy = sizingOf(city);
    const failing = sizingOf({ ...city, failureRate: 0.3 });
    expect(failing.cores / failing.attemptsPerSecond).toBeGreaterThan(healthy.cores / healthy.attemptsPerSecond);
  });
});

describe('The figures of the sizing', () => {
  it('are in the page that names them', () => {
    const page = readFileSync(join(DOCS, 'sizing.md'), 'utf8');
    const named = Object.values(MEASURED).filter((value) => value >= 1);
    expect(named.filter((value) => !page.includes(value.toLocaleString('en')))).toEqual([]);
  });

  it('make the examples of the page', () => {
    const page = readFileSync(join(DOCS, 'sizing.md'), 'utf8');
    const shown = page
      .split('\n')
      .filter((line) => line.endsWith(' TB |'))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(shown).toEqual(
      [100, 1_000, 20_000].map((pingsPerSecond) => {
        const sizing = sizingOf({ ...city, pingsPerSecond, failureRate: 0.02 });
        const { processes, partitions, cores, deliveriesPerSecond, postgresBytes, kafkaBytes } = sizing;
        const terabytes = (bytes: number) => `${(bytes / 1e12).toFixed(2)} TB`;
        const inCells = [pingsPerSecond, deliveriesPerSecond].map((value) => value.toLocaleString('en'));
        const counts = [processes.webhookDelivery, partitions].map(String);
        return ['', ...inCells, ...counts, cores.toFixed(2), terabytes(postgresBytes), terabytes(kafkaBytes), ''];
      }),
    );
  });

  it('make the billion deliveries of the operations page, and its rates', () => {
    const page = readFileSync(join(DOCS, 'operations.md'), 'utf8').replaceAll(/ +/g, ' ').replaceAll('\n', ' ');
    const { fill, size } = history;
    const { projectedAttemptsPerSecond, historyBytesPerDelivery } = MEASURED;
    const attempts = fill.attempts / fill.deliveries;
    const perSecond = (1e9 * attempts) / (15 * SECONDS_PER_DAY);
    const perDay = 1e9 / 15;
    const gigabytes = (bytes: number) => `${((bytes * perDay) / 1e9).toFixed(0)} GB`;
    const indexBytes = size.bytesPerDelivery - size.tableBytesPerDelivery;
    const said = [
      `${attempts.toFixed(2)} attempts and ${historyBytesPerDelivery.toLocaleString('en')} bytes per delivery`,
      `about ${(indexBytes / 10).toFixed(0)}0 of them in indexes`,
      `${projectedAttemptsPerSecond.toLocaleString('en')} projected attempts per second`,
      `and ${perSecond.toFixed(0)} attempts per second`,
      `${((100 * perSecond) / projectedAttemptsPerSecond).toFixed(0)} % of its rate`,
      `${(size.bytesPerDelivery / 1e3).toFixed(2)} TB, and ${gigabytes(2 * size.bytesPerDelivery)} more`,
      `${gigabytes(size.tableBytesPerDelivery)}, ${gigabytes(indexBytes)} |`,
      `their ${gigabytes(indexBytes)} must fit`,
      `${gigabytes(indexBytes)} of indexes would be a reason`,
      `${((1e9 * attempts) / projectedAttemptsPerSecond / 3_600).toFixed(0)} hours`,
      `would take ${((313_726 * attempts) / projectedAttemptsPerSecond).toFixed(0)} s for as many`,
    ];
    expect(said.filter((text) => !page.includes(text))).toEqual([]);
  });

  it('are not less than what the records take: value, key, trace and frame', async () => {
    const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
    const { telemetryPings, fleetEvents, webhookDeliveries, webhookAttempts } = codecs;
    for (const codec of [telemetryPings, fleetEvents, webhookDeliveries, webhookAttempts]) await codec.prepare();
    const event = eventOf();
    const [delivery] = decideFanOut(event, [subscriptionOf()], NOON);
    if (delivery === undefined) throw new Error('The subscription matches the event.');
    const withoutBody = { ...delivery, body: '' };
    const { createdAt: deliveryCreatedAt, ...shared } = withoutBody;
    const attempt = attemptOf({ ...shared, deliveryCreatedAt, deliveryOffset: 1_000_000 });
    const bytes = {
      ping: telemetryPings.encode(pingOf()).length,
      event: fleetEvents.encode(event).length,
      delivery: webhookDeliveries.encode(withoutBody).length,
      attempt: webhookAttempts.encode(attempt).length,
    };
    const FRAME = 20;
    const TRACE = 70;
    const id = delivery.subscriptionId.length;
    expect(MEASURED.pingBytes).toBeGreaterThanOrEqual(bytes.ping + event.deviceId.length + FRAME);
    expect(MEASURED.eventBytes).toBeGreaterThanOrEqual(bytes.event + event.deviceId.length + TRACE + FRAME);
    expect(MEASURED.deliveryBytes).toBeGreaterThanOrEqual(bytes.delivery + id + TRACE + FRAME);
    expect(MEASURED.attemptBytes).toBeGreaterThanOrEqual(bytes.attempt + id + TRACE + FRAME);
    // Nor a multiple of it, which would size disks that nobody needs.
    expect(MEASURED.attemptBytes).toBeLessThan(2 * (bytes.attempt + id + TRACE + FRAME));
    expect(MEASURED.pingBytes).toBeLessThan(2 * (bytes.ping + event.deviceId.length + FRAME));
  });
});
