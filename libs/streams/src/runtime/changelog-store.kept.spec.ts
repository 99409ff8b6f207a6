import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { flushed, holdsFor, until } from '../../../../test/support/until.js';
import { partitionName, type StreamRecord } from '../record.js';
import { type KeyValueStore, keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { ChangelogStore } from './changelog-store.js';
import { StateDirectory } from './state-directory.js';
import { type Broker, Journal } from './testing/observed-restores.js';

const HOUR_MS = 3_600_000;
const INTERVAL_MS = 1_000;
const CHANGELOG = { topic: 'counts', partition: 0 };
const OTHERS = { topic: 'others', partition: 0 };
const FILE = join('counting', 'counts-0.checkpoint');

let clock: number;
let broker: Broker;
let journal: Journal;
let stateDir: string;
let prepare: (records: readonly StreamRecord[]) => Promise<void>;

function newBroker(): Broker {
  return createMemoryBackend({ topics: { counts: 1, others: 1 }, now: () => clock });
}

beforeEach(async () => {
  clock = 1_000_000;
  broker = newBroker();
  journal = new Journal();
  stateDir = await mkdtemp(join(tmpdir(), 'waypost-state-'));
  prepare = () => Promise.resolve();
});

afterEach(() => rm(stateDir, { recursive: true }));

function options() {
  const counts = keyValueStore<number>({
    changelogTopic: CHANGELOG.topic,
    serde: jsonSerde(),
    prepare: (records) => prepare(records),
  });
  const topology = { applicationId: 'counting', stores: { counts } };
  const own = { stateDir, checkpointIntervalMs: INTERVAL_MS, logger: journal, now: () => clock };
  return { counts, state: { topology, backend: broker, ...own } };
}

function newStore() {
  const { counts, state } = options();
  const kept = new ChangelogStore('counts', counts, 0, state);
  const values = kept.store as typeof kept.store & KeyValueStore<number>;
  return {
    kept,
    values,
    open: () => kept.open(new AbortController().signal),
    commit: (key: string, value: number, isRepeated = false) => {
      values.put(key, value);
      kept.committed({ baseOffsets: new Map([[partitionName(CHANGELOG), append(key, value)]]), isRepeated });
      kept.store.commit();
    },
  };
}

function append(key: string, value: number | null): number {
  return broker.append(CHANGELOG, { key: Buffer.from(key), value: value === null ? null : Buffer.from(String(value)) });
}

function checkpoints(): number {
  return journal.events.filter((event) => event === 'checkpoint_written').length;
}

describe('the store of a partition', () => {
  it('is gone on with after days without a restart, since no change of these days was missed', async () => {
    const { open, commit } = newStore();
    append('a', 1);
    await open();
    clock += 30 * HOUR_MS;
    commit('b', 1);
    await open();
    expect(journal.restored.map(({ from }) => from)).toEqual(['changelog', 'memory']);
  });

  it('is as old as the beginning of its restore, during which deletions may have left the changelog', async () => {
    const { open } = newStore();
    append('a', 1);
    prepare = () => Promise.resolve(void (clock += 15 * HOUR_MS));
    await open();
    clock += 6 * HOUR_MS;
    await open();
    expect(journal.restored.map(({ from }) => from)).toEqual(['changelog', 'changelog']);
  });

  it.each([
    ['an aborted attempt of its own', true, 'memory', []],
    ['another writer', false, 'changelog', ['changelog_has_other_writers']],
  ] as const)('is complete or not when records of %s come before its own', async (_whose, isRepeated, from, events) => {
    const { open, commit } = newStore();
    await open();
    commit('a', 1);
    for (const value of [7, 8, 9]) append('b', value);
    commit('b', 2, isRepeated);
    clock += 30 * HOUR_MS;
    commit('c', 1);
    await open();
    expect(journal.restored.map((restored) => restored.from)).toEqual(['changelog', from]);
    expect(journal.events.filter((event) => event.startsWith('changelog_has'))).toEqual(
      events.map((event) => expect.stringContaining(event)),
    );
  });

  it('had content before its last key was deleted: its partition needs a position', async () => {
    const { kept, open } = newStore();
    append('a', 1);
    append('a', null);
    await open();
    expect([kept.store.size, kept.hasHistory]).toEqual([0, true]);
  });

  it('is not touched by a restore that goes on after its task was closed: the next task uses it', async () => {
    const { kept } = newStore();
    append('a', 1);
    const waiting: (() => void)[] = [];
    prepare = () => new Promise((resolve) => waiting.push(resolve));
    const closed = new AbortController();
    const opening = kept.open(closed.signal).catch((error: unknown) => error);
    await until(() => waiting.length === 1);
    closed.abort(new Error('closed'));
    expect(await opening).toMatchObject({ message: 'closed' });
    for (const resolve of waiting) resolve();
    await flushed();
    expect(kept.store.size).toBe(0);
  });
});

describe('the stores of a topology', () => {
  it('lose nothing of a commit after which the changelog of one of them turns out to have lost records', async () => {
    const { state, counts } = options();
    const others = keyValueStore<number>({ changelogTopic: OTHERS.topic, serde: jsonSerde() });
    const topology = { ...state.topology, stores: { counts, others } };
    const stores = new StateDirectory({ ...state, topology }).of(0);
    const changelogs = { counts: CHANGELOG, others: OTHERS };
    const value = (name: string) => stores.byName.get(name) as unknown as KeyValueStore<number>;
    const commit = (key: string): void => {
      const written = Object.entries(changelogs).map(([name, changelog]) => {
        value(name).put(key, 1);
        return [partitionName(changelog), broker.append(changelog, { key: Buffer.from(key), value: Buffer.from('1') })];
      });
      stores.committed({ baseOffsets: new Map(written as [string, number][]), isRepeated: false });
      for (const store of stores.byName.values()) store.commit();
    };
    await stores.open(new AbortController().signal);
    commit('first');
    commit('second');
    broker.loseFrom(OTHERS, 0);
    expect(() => commit('third')).toThrow('it was deleted, or has lost records');
    await stores.suspend();
    await stores.open(new AbortController().signal);
    expect(Object.keys(changelogs).map((name) => value(name).get('third'))).toEqual([1, 1]);
    expect(value('counts').get('first')).toBe(1);
  });
});

describe('a checkpoint', () => {
  it('leaves nothing in the store when it turns out to be damaged after its first entries', async () => {
    const first = newStore();
    await first.open();
    first.commit('of the checkpoint', 1);
    await first.kept.retire();
    const file = join(stateDir, FILE);
    await writeFile(file, (await readFile(file)).subarray(0, -3));

    broker = newBroker();
    append('of the changelog', 1);
    const second = newStore();
    await second.open();
    expect([...second.values.entries()]).toEqual([['of the changelog', 1]]);
  });

  it('is not written once the changelog has lost records before it, but again when they have been made up for', async () => {
    const { kept, open, commit } = newStore();
    await open();
    commit('a', 1);
    commit('b', 1);
    broker.loseFrom(CHANGELOG, 1);
    expect(() => commit('c', 1)).toThrow('it was deleted, or has lost records');
    await kept.retire();
    expect(await readdir(stateDir)).toEqual([]);

    await open();
    await kept.retire();
    expect(checkpoints()).toBe(1);
  });

  it('is written once per interval, and only after a change', async () => {
    const { kept, open, commit } = newStore();
    await open();
    commit('a', 1);
    clock += INTERVAL_MS;
    const onlyAfter = async (count: number): Promise<void> => {
      await until(() => (kept.between(), checkpoints() === count));
      await holdsFor(100, () => (kept.between(), checkpoints() === count));
    };
    await onlyAfter(1);
    commit('b', 1);
    await onlyAfter(1);
    clock += INTERVAL_MS;
    await onlyAfter(2);
    clock += INTERVAL_MS;
    await onlyAfter(2);

    const next = newStore();
    await next.open();
    await next.kept.retire();
    expect([journal.restored.at(-1)?.from, checkpoints()]).toEqual(['checkpoint', 2]);
  });

  it('is written at a stop of the partitions that the process has then, not of those that it had before', async () => {
    append('a', 1);
    const directory = new StateDirectory(options().state);
    const revoked = directory.of(0);
    await revoked.open(new AbortController().signal);
    revoked.release();
    const own = directory.of(0);
    await own.open(new AbortController().signal);
    directory.stop();
    own.release();
    await directory.close();
    expect([own === revoked, checkpoints()]).toEqual([false, 1]);
  });

  it('is not written by a process that stops while abandoned work may still change the store', async () => {
    const directory = new StateDirectory(options().state);
    const stores = directory.of(0);
    await stores.open(new AbortController().signal);
    directory.stop();
    stores.release();
    stores.abandon();
    await directory.close();
    expect(await readdir(stateDir)).toEqual([]);
  });
});
