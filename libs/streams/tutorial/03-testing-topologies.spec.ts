/**
 * Chapter 3: testing topologies.
 *
 * A processor is a function of its records and its stores, so its tests need neither a broker nor patience. The driver
 * of the earlier chapters is looked at in full here: transactions, failures, restarts and partitions by hand.
 */
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createTopology, jsonSerde, keyValueStore, type OutgoingRecord, partitionForKey } from '@waypost/streams';
import { createTopologyTestDriver } from '@waypost/streams/testing';

// Parcels are loaded into vans. The record's key is the van, its value the weight of a parcel in kg. A van that would
// be overloaded is sent off first. Vans of one depot go to drivers, by the driver's own key.
const MAX_LOAD_KG = 1_000;

const loading = createTopology({
  applicationId: 'loading',
  source: 'parcels',
  stores: { loads: keyValueStore({ changelogTopic: 'loading.loads', serde: jsonSerde<number>() }) },
  sinks: {
    departures: { topic: 'departures', partitioner: 'source-partition' },
    drivers: { topic: 'drivers', partitioner: 'key' },
  },
  processor: (context) => {
    const loads = context.store('loads');
    return {
      process: ({ key, value }) => {
        const van = String(key);
        const load = loads.get(van) ?? 0;
        const weight = Number(String(value));
        if (load + weight <= MAX_LOAD_KG) {
          loads.put(van, load + weight);
          return;
        }
        loads.put(van, weight);
        context.forward('departures', { key, value: Buffer.from(`${String(load)} kg`) });
        context.forward('drivers', { key: Buffer.from(`driver of ${van}`), value: Buffer.from('go') });
      },
    };
  },
});

type Driver = ReturnType<typeof newDriver>;

function newDriver(more: { autoCommit?: boolean } = {}) {
  return createTopologyTestDriver({ topology: loading, partition: 2, partitionCounts: { drivers: 8 }, ...more });
}

function parcel(van: string, weight: number) {
  return { key: Buffer.from(van), value: Buffer.from(String(weight)) };
}

function textOf({ key, value }: OutgoingRecord): string {
  return `${String(key)}: ${String(value)}`;
}

describe('chapter 3: testing topologies', () => {
  let driver: Driver;
  beforeEach(() => {
    driver = newDriver();
  });

  // pipe() returns what this record wrote to the sinks; readOutput() gives what a sink got since it was last asked.
  it('shows the outputs of one record, or of one sink', async () => {
    expect(await driver.pipe(parcel('van-1', 700))).toEqual([]);
    expect((await driver.pipe(parcel('van-1', 400))).map(textOf)).toEqual(['van-1: 700 kg', 'driver of van-1: go']);
    expect(driver.readOutput('departures').map(textOf)).toEqual(['van-1: 700 kg']);
    expect(driver.readOutput('departures')).toEqual([]);
  });

  it('looks into the stores', async () => {
    await driver.pipe(parcel('van-1', 700));
    expect(driver.store('loads').get('van-1')).toBe(700);
  });

  // The driver is one task on one partition. Where an output goes is part of what is tested: beside the input, or by
  // the hash of its own key, as every Kafka client computes it.
  it('puts outputs on the partitions where the runtime would put them', async () => {
    await driver.pipe(parcel('van-1', 700));
    await driver.pipe(parcel('van-1', 400));
    expect(driver.readOutput('departures').map(({ partition }) => partition)).toEqual([2]);
    const expected = partitionForKey(Buffer.from('driver of van-1'), 8);
    expect(driver.readOutput('drivers').map(({ partition }) => partition)).toEqual([expected]);
  });

  // Each record is a transaction of its own, unless the test says when one ends. A transaction that fails leaves no
  // trace in outputs or stores; the runtime would read its records again, and so does the test.
  it('rolls a transaction back as if it had never been', async () => {
    driver = newDriver({ autoCommit: false });
    await driver.pipe(parcel('van-1', 700));
    driver.commit();
    await driver.pipe(parcel('van-1', 400));
    expect(driver.store('loads').get('van-1')).toBe(400);
    driver.rollback();
    expect(driver.store('loads').get('van-1')).toBe(700);
    expect(driver.readOutput('departures')).toEqual([]);
    await driver.pipe(parcel('van-1', 400));
    driver.commit();
    expect(driver.readOutput('departures').map(textOf)).toEqual(['van-1: 700 kg']);
  });

  // This is the test that every topology with state should have. It finds values that do not survive their serde, and
  // state that a processor keeps in variables of its own.
  it('gives the same outputs and state however often the task is restarted', async () => {
    const parcels = fc.array(
      fc.record({ van: fc.constantFrom('van-1', 'van-2'), weight: fc.integer({ min: 1, max: 900 }) }),
    );
    await fc.assert(
      fc.asyncProperty(parcels, fc.func(fc.boolean()), async (list, restartsAt) => {
        const undisturbed = newDriver();
        const restarted = newDriver();
        for (const [i, { van, weight }] of list.entries()) {
          await undisturbed.pipe(parcel(van, weight));
          await restarted.pipe(parcel(van, weight));
          if (restartsAt(i)) await restarted.restart();
        }
        expect(restarted.written()).toEqual(undisturbed.written());
        for (const van of ['van-1', 'van-2']) {
          expect(restarted.store('loads').get(van)).toBe(undisturbed.store('loads').get(van));
        }
      }),
      { numRuns: 50 },
    );
  });

  // Names of stores and sinks are checked by the compiler, in processors and in tests alike.
  it('does not compile with a store or a sink that is not declared', () => {
    // @ts-expect-error -- there is no such store
    expect(() => driver.store('lods')).toThrow('has no store named lods: declare it under "stores"');
    // @ts-expect-error -- there is no such sink
    expect(() => driver.readOutput('departurs')).toThrow('has no sink named departurs: declare it under "sinks"');
  });
});
