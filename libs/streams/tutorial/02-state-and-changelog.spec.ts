/**
 * Chapter 2: state and its changelog.
 *
 * A parcel is often scanned several times at one place. Only a scan at another place than the last one is news, so the
 * processor has to remember where each parcel was. It keeps that in a state store.
 */
import { describe, expect, it } from '@jest/globals';
import { createTopology, jsonSerde, keyValueStore, type OutgoingRecord } from '@waypost/streams';
import { createTopologyTestDriver } from '@waypost/streams/testing';

interface Whereabouts {
  readonly place: string;
  readonly moves: number;
}

// A store lives in the memory of its task. What makes it durable is its changelog, a compacted topic with as many
// partitions as the source: task 3 reads partition 3 of the source and keeps its store in partition 3 of the changelog.
const parcelMoves = createTopology({
  applicationId: 'parcel-moves',
  source: 'scans',
  stores: { parcels: keyValueStore({ changelogTopic: 'parcel-moves.parcels', serde: jsonSerde<Whereabouts>() }) },
  sinks: { moves: { topic: 'moves', partitioner: 'source-partition' } },
  processor: (context) => {
    // The type of the store comes from its declaration: `whereabouts` below is of type Whereabouts or undefined.
    const parcels = context.store('parcels');
    return {
      process: ({ key, value }) => {
        if (!key) return;
        const parcel = key.toString();
        if (!value) {
          parcels.delete(parcel);
          return;
        }
        const whereabouts = parcels.get(parcel);
        const place = value.toString();
        if (whereabouts?.place === place) return;
        const moves = whereabouts ? whereabouts.moves + 1 : 0;
        parcels.put(parcel, { place, moves });
        context.forward('moves', { key, value: Buffer.from(`move ${String(moves)}: ${place}`) });
      },
    };
  },
});

function scan(parcel: string, place: string | null) {
  return { key: Buffer.from(parcel), value: place === null ? null : Buffer.from(place) };
}

function textOf({ key, value }: OutgoingRecord): string {
  return `${String(key)}: ${String(value)}`;
}

describe('chapter 2: state and its changelog', () => {
  it('decides about a record by what earlier ones left in the store', async () => {
    const driver = createTopologyTestDriver({ topology: parcelMoves });
    for (const place of ['Utrecht', 'Utrecht', 'Zwolle']) await driver.pipe(scan('parcel-1', place));
    expect(driver.readOutput('moves').map(textOf)).toEqual(['parcel-1: move 0: Utrecht', 'parcel-1: move 1: Zwolle']);
    expect(driver.store('parcels').get('parcel-1')).toEqual({ place: 'Zwolle', moves: 1 });
  });

  // A transaction carries the outputs, the changes of the stores and the position in the source. All of it becomes
  // visible, or nothing. Here three records are one transaction, as the runtime takes a whole fetched batch.
  it('writes one changelog record for each key that a transaction changed, however often it changed', async () => {
    const driver = createTopologyTestDriver({ topology: parcelMoves, autoCommit: false });
    await driver.pipe(scan('parcel-1', 'Utrecht'));
    await driver.pipe(scan('parcel-1', 'Zwolle'));
    await driver.pipe(scan('parcel-2', 'Arnhem'));
    expect(driver.written()).toEqual([]);
    driver.commit();
    const changelog = driver.written().filter(({ topic }) => topic === 'parcel-moves.parcels');
    expect(changelog.map(textOf)).toEqual([
      'parcel-1: {"place":"Zwolle","moves":1}',
      'parcel-2: {"place":"Arnhem","moves":0}',
    ]);
  });

  // When a process dies, another one builds the task and reads the changelog to its end before the first record.
  it('has its state again after a restart', async () => {
    const driver = createTopologyTestDriver({ topology: parcelMoves });
    await driver.pipe(scan('parcel-1', 'Utrecht'));
    await driver.restart();
    expect(await driver.pipe(scan('parcel-1', 'Utrecht'))).toEqual([]);
    expect((await driver.pipe(scan('parcel-1', 'Zwolle'))).map(textOf)).toEqual(['parcel-1: move 1: Zwolle']);
  });

  // A record without a value is a tombstone: compaction takes the key out of the changelog in time, and a restore
  // takes it out of the store at once.
  it('forgets a key for good when it is deleted', async () => {
    const driver = createTopologyTestDriver({ topology: parcelMoves });
    await driver.pipe(scan('parcel-1', 'Utrecht'));
    await driver.pipe(scan('parcel-1', null));
    expect(driver.written().at(-1)).toMatchObject({ topic: 'parcel-moves.parcels', value: null });
    await driver.restart();
    expect(driver.store('parcels').get('parcel-1')).toBeUndefined();
  });

  // Two stores in one topic would restore each other's values. Such a topology is refused where it is made.
  it('gives each store its own changelog', () => {
    const visits = () => keyValueStore({ changelogTopic: 'visits', serde: jsonSerde<number>() });
    expect(() =>
      createTopology({
        applicationId: 'twice',
        source: 'scans',
        stores: { today: visits(), ever: visits() },
        sinks: {},
        processor: () => ({ process: () => undefined }),
      }),
    ).toThrow('The topic visits is the changelog of the store ever and used by the store today of twice');
  });
});
