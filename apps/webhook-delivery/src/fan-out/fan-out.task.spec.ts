import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { traceOfPing } from '@waypost/domain';
import type { EndedSpan } from '@waypost/platform';
import { type OutgoingRecord, partitionForKey } from '@waypost/streams';
import { flushed, holdsFor, until } from '../../../../test/support/until.js';
import { eventAt, EVENTS, FanOutStage, OUTPUTS, subscription } from './testing/fan-outs.js';

let stage: FanOutStage;

beforeEach(async () => {
  stage = await FanOutStage.open();
});

afterEach(() => stage.stop());

const KIB = 1_024;

/** @returns the bytes of each request to the log of deliveries; it is sent once `leader` resolves */
function bytesOfRequests(leader: Promise<void> = Promise.resolve()): number[] {
  const requests: number[] = [];
  const open = stage.backend.fencedWriter.bind(stage.backend);
  jest.spyOn(stage.backend, 'fencedWriter').mockImplementation((...of) => {
    const writer = open(...of);
    const append = writer.append.bind(writer);
    return Object.assign(writer, {
      append: async (records: readonly OutgoingRecord[]) => {
        requests.push(records.reduce((bytes, { value }) => bytes + (value?.length ?? 0), 0));
        await leader;
        return append(records);
      },
    });
  });
  return requests;
}

describe('the fan-out (R-16)', () => {
  it('makes one delivery per subscription of the fleet, type and device, and none for a disabled one', async () => {
    stage.index.put(subscription('all devices'));
    stage.index.put(subscription('this device', { deviceIds: ['device-1'] }));
    stage.index.put(subscription('another device', { deviceIds: ['device-2'] }));
    stage.index.put(subscription('paused', { status: 'paused' }));
    stage.index.put(subscription('disabled', { status: 'disabled' }));
    stage.index.put(subscription('another type', { eventType: 'ignition_on' }));
    stage.index.put(subscription('another fleet', { fleetId: 'fleet-2' }));
    expect((await stage.fanOut()).map(({ subscriptionId }) => subscriptionId).sort()).toEqual([
      'all devices',
      'paused',
      'this device',
    ]);
  });

  it('freezes the body with the known fields only (R-13, R-15)', async () => {
    stage.index.put(subscription('s'));
    const before = Date.now();
    const [delivery] = await stage.fanOut();
    expect(JSON.parse(delivery?.body ?? '')).toEqual({
      eventId: delivery?.eventId,
      eventTime: '2026-01-01T00:00:00.000Z',
      eventType: 'position',
      eventData: {
        deviceId: 'device-1',
        fleetId: 'fleet-1',
        latitude: 1,
        longitude: 2,
        speedInKmh: 0,
        ignition: false,
      },
    });
    expect(delivery).toMatchObject({ series: 0, replayId: null });
    expect(delivery?.createdAt).toBeGreaterThanOrEqual(before);
    expect(delivery?.createdAt).toBeLessThanOrEqual(Date.now());
  });

  it('continues the trace of the event in each delivery, also of events that wait for their turn (R-46)', async () => {
    for (const id of ['one', 'two']) stage.index.put(subscription(id));
    const traceIds = Array.from({ length: 400 }, (_, n) => (n + 1).toString(16).padStart(32, '0'));
    for (const [n, traceId] of traceIds.entries())
      stage.publish(eventAt(n), [
        { key: 'traceparent', value: Buffer.from(`00-${traceId}-00f067aa0ba902b7-01`) },
        { key: 'tracestate', value: Buffer.from(`trace=${traceId}`) },
      ]);
    await stage.start();
    await until(async () => (await stage.committed()) === traceIds.length);
    const written = await stage.writtenHeaders();
    for (const [parent = '', ...others] of written) {
      const traceId = parent.split('-')[1] ?? '';
      const offset = parseInt(traceId, 16) - 1;
      expect(others).toEqual([`tracestate trace=${traceId}`, `waypost-event 0:${String(offset)}`]);
    }
    const headers = written.map(([parent = '']) => parent);
    for (const header of headers) expect(header).toMatch(/^traceparent 00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(new Set(headers).size).toBe(2 * traceIds.length);
    expect([...new Set(headers.map((header) => header.split('-')[1]))].sort()).toEqual(traceIds);
  });

  it('has all deliveries of all events of a ping in one trace, also when none of these carries one (R-46)', async () => {
    for (const id of ['one', 'two']) stage.index.put(subscription(id));
    stage.index.put(subscription('ignition', { eventType: 'ignition_off' }));
    stage.publish(eventAt(1));
    stage.publish({ ...eventAt(1), eventType: 'ignition_off' });
    stage.publish(eventAt(2));
    await stage.start();
    await until(async () => (await stage.committed()) === 3);
    const traces = (await stage.writtenHeaders()).map(([only = '']) => only.split('-')[1]);
    const ofFirstPing = traceOfPing(eventAt(1), null).split('-')[1];
    expect(traces).toHaveLength(5);
    expect(traces.filter((trace) => trace === ofFirstPing)).toHaveLength(3);
    expect(new Set(traces).size).toBe(2);
  });

  it('records a span per delivery of a sampled trace, under the ids that its record carries (R-46)', async () => {
    const spans: EndedSpan[] = [];
    stage.traces = {
      recorder: { record: (span) => void spans.push(span), close: () => Promise.resolve() },
      sampleRatio: 0,
    };
    for (const id of ['one', 'two']) stage.index.put(subscription(id));
    const given = (flags: string) => [
      { key: 'traceparent', value: Buffer.from(`00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`) },
    ];
    for (const [n, flags] of ['01', '00'].entries()) stage.publish(eventAt(n), given(flags));
    await stage.start();
    await until(async () => (await stage.committed()) === 2);
    const sampled = (await stage.writtenHeaders()).flat().filter((header) => header.endsWith('-01'));
    expect(spans.map(({ context }) => context?.spanId).sort()).toEqual(sampled.map((one) => one.split('-')[2]).sort());
    expect(spans).toHaveLength(2);
    for (const span of spans)
      expect(span).toMatchObject({ name: 'create webhook.deliveries', parent: { spanId: '00f067aa0ba902b7' } });
  });

  it('writes under an id of its own for each partition of events, since a second writer of the same id fences the first', async () => {
    const ids: string[] = [];
    const whole = stage.backend.fencedWriter.bind(stage.backend);
    stage.backend.fencedWriter = (id, partitions) => {
      ids.push(id);
      return whole(id, partitions);
    };
    await stage.fanOut();
    expect(ids).toEqual(['webhook-delivery.fan-out.0']);
  });

  it('puts a delivery on the partition of its subscription', async () => {
    for (let i = 0; i < 20; i++) stage.index.put(subscription(`s${String(i)}`));
    const deliveries = await stage.fanOut();
    expect(deliveries).toHaveLength(20);
    for (const { subscriptionId, partition } of deliveries) {
      expect(partition).toBe(partitionForKey(Buffer.from(subscriptionId), OUTPUTS));
    }
  });

  it('writes the deliveries of a subscription in the order of the events (R-28)', async () => {
    const ids = Array.from({ length: 8 }, (_, i) => `s${String(i)}`);
    for (const id of ids) stage.index.put(subscription(id));
    // More than one slice of a batch.
    const events = Array.from({ length: 600 }, (_, second) => eventAt(second));
    for (const event of events) stage.publish(event);
    await stage.start();
    await until(async () => (await stage.committed()) === events.length);
    const all = await stage.written();
    for (const id of ids) {
      const times = all.filter(({ subscriptionId }) => subscriptionId === id).map(({ eventTime }) => eventTime);
      expect(times).toEqual(events.map(({ eventTime }) => eventTime));
    }
  });

  it('does not make a fleet wait for the burst of another, and keeps the order of both (R-26, R-28)', async () => {
    const wide = Array.from({ length: 40 }, (_, i) => `wide${String(i)}`);
    for (const id of wide) stage.index.put(subscription(id, { fleetId: 'wide' }));
    stage.index.put(subscription('other', { fleetId: 'other' }));
    const burst = Array.from({ length: 200 }, (_, second) => ({ ...eventAt(second), fleetId: 'wide' }));
    const others = [eventAt(0), eventAt(1)].map((event) => ({ ...event, fleetId: 'other' }));
    for (const event of [...burst, ...others]) stage.publish(event);
    await stage.start();
    await until(async () => (await stage.committed()) === burst.length + others.length);
    const all = await stage.written();
    const partition = partitionForKey(Buffer.from('other'), OUTPUTS);
    const beside = all.filter((delivery) => delivery.partition === partition);
    const lastOfOther = beside.findLastIndex(({ subscriptionId }) => subscriptionId === 'other');
    // The whole burst would be 2,000 deliveries or so in this partition.
    expect(lastOfOther).toBeLessThan(100);
    expect(beside.length).toBeGreaterThan(1_000);
    const timesOf = (id: string) => all.flatMap((one) => (one.subscriptionId === id ? [one.eventTime] : []));
    expect(timesOf('other')).toEqual(others.map(({ eventTime }) => eventTime));
    for (const id of wide) expect(timesOf(id)).toEqual(burst.map(({ eventTime }) => eventTime));
  });

  it('holds no more than some 128 KiB of deliveries, though many fleets with many subscriptions have an event', async () => {
    const fleets = Array.from({ length: 90 }, (_, n) => `fleet-${String(n)}`);
    for (const fleetId of fleets) {
      for (let n = 0; n < 200; n++) stage.index.put(subscription(`${fleetId}-${String(n)}`, { fleetId }));
      stage.publish({ ...eventAt(0), fleetId });
    }
    const requests = bytesOfRequests();
    await stage.start();
    await until(async () => (await stage.committed()) === fleets.length);
    expect(await stage.written()).toHaveLength(90 * 200);
    expect(requests.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(5_000 * KIB);
    expect(Math.max(...requests)).toBeLessThan(150 * KIB);
  });

  it('holds twice as much at most while a leader is away, though each event is the only one of its fleet (R-26)', async () => {
    const fleets = Array.from({ length: 4_000 }, (_, n) => `fleet-${String(n)}`);
    for (const fleetId of fleets) {
      stage.index.put(subscription(fleetId, { fleetId }));
      stage.publish({ ...eventAt(0), fleetId });
    }
    let leaderIsBack = () => {};
    const requests = bytesOfRequests(new Promise((resolve) => (leaderIsBack = resolve)));
    await stage.start();
    // A slice has 100 events at most.
    await until(() => stage.caughtUp >= 40);
    leaderIsBack();
    await until(async () => (await stage.committed()) === fleets.length);
    expect(await stage.written()).toHaveLength(fleets.length);
    expect(requests.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(1_000 * KIB);
    expect(Math.max(...requests)).toBeLessThan(350 * KIB);
  });

  it('lets an event for many subscriptions delay neither the event of another fleet nor a retry (R-22, R-26)', async () => {
    for (let n = 0; n < 1_000; n++) stage.index.put(subscription(`wide ${String(n)}`, { fleetId: 'wide' }));
    stage.index.put(subscription('other', { fleetId: 'other' }));
    stage.publish({ ...eventAt(0), fleetId: 'wide' });
    stage.publish({ ...eventAt(0), fleetId: 'other' });
    await stage.start();
    await until(async () => (await stage.committed()) === 2);
    const all = await stage.written();
    expect(all).toHaveLength(1_001);
    const partition = partitionForKey(Buffer.from('other'), OUTPUTS);
    const beside = all.filter((delivery) => delivery.partition === partition);
    expect(beside.findIndex(({ subscriptionId }) => subscriptionId === 'other')).toBeLessThan(20);
    expect(stage.madeInRounds.reduce((sum, made) => sum + made)).toBeGreaterThan(900);
    // Between two rounds the event loop goes round: timers fire, responses are read.
    expect(Math.max(...stage.madeInRounds)).toBeLessThan(40);
  });

  it('makes the first deliveries of a fleet at once, whatever the rounds are busy with (R-26)', async () => {
    stage.rounds = { run: () => new Promise(() => undefined) };
    for (let n = 0; n < 40; n++) stage.index.put(subscription(`wide ${String(n)}`, { fleetId: 'wide' }));
    stage.index.put(subscription('other', { fleetId: 'other' }));
    for (const fleetId of ['wide', 'other']) stage.publish({ ...eventAt(0), fleetId });
    await stage.start();
    await until(async () => (await stage.written()).some(({ subscriptionId }) => subscriptionId === 'other'));
    expect((await stage.written()).length).toBeLessThan(40);
  });

  it('leaves these to the rounds too while retries start late (R-22)', async () => {
    let asked = 0;
    stage.rounds = { run: () => new Promise(() => void asked++) };
    stage.headroomShare = 1 / 8;
    stage.index.put(subscription('late', { fleetId: 'late' }));
    stage.publish({ ...eventAt(0), fleetId: 'late' });
    await stage.start();
    await until(() => asked > 0);
    await holdsFor(50, async () => expect(await stage.written()).toEqual([]));
  });

  it('reads on when a burst larger than it may hold has been fanned out', async () => {
    const [events, eventBytes] = [200, 100 * KIB];
    for (let second = 0; second < events; second++)
      stage.publish({ ...eventAt(second), deviceId: 'd'.repeat(eventBytes) });
    await stage.start();
    await until(async () => (await stage.committed()) === events);
  });

  it('reads the subscriptions to their end before an event, so that an earlier acknowledged one is served', async () => {
    stage.unread = async () => {
      await flushed();
      stage.index.put(subscription('acknowledged'));
    };
    expect(await stage.fanOut()).toMatchObject([{ subscriptionId: 'acknowledged' }]);
    expect(stage.caughtUp).toBe(1);
  });

  it('follows changes: newer versions apply, older ones published again do not, deleted ones disappear', async () => {
    stage.index.put(subscription('s', { version: 2, status: 'disabled' }));
    stage.index.put(subscription('s', { version: 1 }));
    expect(await stage.fanOut()).toEqual([]);
    stage.index.put(subscription('s', { version: 3 }));
    expect(await stage.fanOut()).toHaveLength(1);
    stage.index.remove('s');
    expect(await stage.fanOut()).toEqual([]);
  });
});

describe('the fan-out and what it cannot use', () => {
  it('quarantines what is not an event, and an event whose time is beyond the calendar, and goes on (R-2)', async () => {
    stage.index.put(subscription('s'));
    stage.backend.append(EVENTS, { key: Buffer.from('device-1'), value: Buffer.from('no avro') });
    stage.backend.append(EVENTS, { key: null, value: null });
    stage.publish({ ...eventAt(0), eventTime: 2 ** 51 });
    stage.publish(eventAt(1));
    await stage.start();
    await until(async () => (await stage.committed()) === 4);
    expect(await stage.written()).toMatchObject([{ eventTime: eventAt(1).eventTime }]);
    expect((await stage.rejected()).map(({ sourceOffset, reason }) => [sourceOffset, reason])).toEqual([
      [0, 'malformed'],
      [1, 'malformed'],
      [2, 'invalid_field'],
    ]);
  });

  it.each([
    ['a payload format', 'position', 'v9'],
    ['an event type', 'tire_burst', 'v1'],
  ])('waits with the partition at %s that only a newer build knows', async (_, eventType, payloadFormat) => {
    stage.index.put(subscription('s', { eventType, payloadFormat }));
    stage.publish({ ...eventAt(0), eventType });
    const fanOut = await stage.start();
    await until(() => stage.stopped.length > 0);
    expect(stage.stopped[0]).toMatchObject({ partition: 'fleet.events-0', reason: 'NEWER_VERSION' });
    expect(fanOut.tasks()).toMatchObject([{ state: 'parked', parked: { offset: 0 } }]);
    expect([await stage.written(), await stage.rejected()]).toEqual([[], []]);

    stage.index.put(subscription('s', { version: 2, eventType, status: 'disabled' }));
    await until(async () => (await stage.committed()) === 1);
  });

  it('waits at the event that it cannot fan out, though it finds out when it has read later ones', async () => {
    const known = Array.from({ length: 11 }, (_, n) => `s${String(n)}`);
    for (const id of known) stage.index.put(subscription(id));
    stage.index.put(subscription('newer', { payloadFormat: 'v9' }));
    // While retries start late, the rounds make all deliveries.
    stage.headroomShare = 1 / 8;
    stage.rounds = { run: (work) => sleep(20).then(work) };
    const events = 10;
    for (let second = 0; second < events; second++) stage.publish(eventAt(second));
    const fanOut = await stage.start();
    await until(() => stage.stopped.length > 0);
    expect(fanOut.tasks()).toMatchObject([{ state: 'parked', parked: { code: 'NEWER_VERSION', offset: 0 } }]);

    stage.index.put(subscription('newer', { version: 2, status: 'disabled' }));
    await until(async () => (await stage.committed()) === events);
    expect(new Set((await stage.written()).map(({ eventId }) => eventId)).size).toBe(events * known.length);
  });
});
