import { afterEach, describe, expect, it } from '@jest/globals';
import { consumerGroups } from '@waypost/contracts';
import { until } from '../../../../test/support/until.js';
import { eventAt, EVENTS, FanOutStage, subscription } from './testing/fan-outs.js';

const FLEETS = ['fleet-2', 'fleet-1'];
const SECONDS = 60;
const SUBSCRIPTIONS = 12;
const APPENDS = 5;
const forEver = new Promise<never>(() => undefined);

let stage: FanOutStage;

afterEach(() => stage.stop());

/** For the bursts of fleets, one after the other in the log. Positions are committed after each write. */
async function openFor(fleets: readonly string[], partitions: number): Promise<void> {
  stage = await FanOutStage.open(partitions);
  let passedMs = 0;
  stage.monotonicMs = () => (passedMs += 1_000);
  for (const fleetId of fleets) {
    for (let n = 0; n < SUBSCRIPTIONS; n++) stage.index.put(subscription(`${fleetId} ${String(n)}`, { fleetId }));
    for (let partition = 0; partition < partitions; partition++) {
      for (let second = 0; second < SECONDS; second++) publish(second, fleetId, partition);
    }
  }
}

function publish(second: number, fleetId: string, partition: number): void {
  stage.publish({ ...eventAt(second), fleetId, deviceId: `device-${String(partition)}` }, [], partition);
}

/** Runs a fan-out that is killed when each partition has written a few times, and has heard of all of it but the last. */
async function killInTheMiddle(partitions: number): Promise<void> {
  const appends = new Map<object, number>();
  const restore = stage.withAppends(async (writer, records) => {
    const count = (appends.get(writer) ?? 0) + 1;
    const bases = await writer.append(records);
    appends.set(writer, count);
    return count >= APPENDS ? forEver : bases;
  });
  await stage.start();
  await until(() => appends.size === partitions && [...appends.values()].every((count) => count >= APPENDS));
  restore();
}

/** The offset of the event of each delivery that is written, for one partition of events. */
async function offsetsOfWritten(partition: number): Promise<number[]> {
  const written = (await stage.written()).filter(({ deviceId }) => deviceId === `device-${String(partition)}`);
  return written.map(
    ({ fleetId, eventTime }) => FLEETS.indexOf(fleetId) * SECONDS + (eventTime - eventAt(0).eventTime) / 1_000,
  );
}

async function completes(partitions: number, events = FLEETS.length * SECONDS): Promise<void> {
  for (let partition = 0; partition < partitions; partition++)
    await until(async () => (await stage.committed(partition)) === events);
  const ids = (await stage.written()).map(({ eventId }) => eventId);
  expect(ids).toHaveLength(partitions * events * SUBSCRIPTIONS);
  expect(new Set(ids).size).toBe(ids.length);
}

describe('a fan-out that restarts while bursts wait (R-25)', () => {
  it('holds what was written of the events that come again, not what other partitions have written (R-26)', async () => {
    await openFor(FLEETS, 2);
    await killInTheMiddle(2);
    const written = [await offsetsOfWritten(0), await offsetsOfWritten(1)];
    await stage.start();
    await until(() => stage.recovered.length === 2);
    for (const recovered of stage.recovered) {
      const own = written[recovered.partition] ?? [];
      const again = own.filter((offset) => offset >= recovered.position);
      expect(recovered.written).toBe(again.length);
      expect(again.length).toBeGreaterThan(0);
      expect(again.length).toBeLessThan(own.length);
    }
    await completes(2);
  });

  const metadata = async () =>
    (await stage.backend.group({ groupId: consumerGroups.fanOut.id, topics: [] }).committed(EVENTS))?.metadata;

  it('looks no further than the last event that has a delivery, and moves its checkpoint on from there', async () => {
    await openFor(['fleet-2'], 1);
    await killInTheMiddle(1);
    const events = 10 * SECONDS;
    for (let second = SECONDS; second < events; second++) publish(second, 'fleet-2', 0);
    const last = Math.max(...(await offsetsOfWritten(0)));
    const before = await metadata();
    const restore = stage.withAppends(async (writer, records) =>
      (await metadata()) === before ? writer.append(records) : forEver,
    );
    await stage.start();
    // Until it has passed that event, its successor has to find what the first one has written.
    await until(async () => (await metadata()) !== before);
    expect(stage.recovered).toMatchObject([{ until: last + 1 }]);
    expect(await stage.committed()).toBeGreaterThan(last);
    expect(await stage.committed()).toBeLessThan(events);
    restore();
    await stage.start();
    await completes(1, events);
  });

  it('holds what an earlier version has written whatever event it is of, and looks for it up to the end', async () => {
    await openFor(FLEETS, 2);
    const restore = stage.withAppends(async (writer, records) => {
      await writer.append([...records].map((record) => ({ ...record, headers: [] })));
      return forEver;
    });
    await stage.start();
    await until(async () => (await offsetsOfWritten(0)).length > 0 && (await offsetsOfWritten(1)).length > 0);
    restore();
    const { length } = await stage.written();
    await stage.start();
    await until(() => stage.recovered.length === 2);
    for (const recovered of stage.recovered)
      expect(recovered).toMatchObject({ written: length, until: FLEETS.length * SECONDS });
    await completes(2);
  });
});
