import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { flushed } from '../../../../../test/support/until.js';
import { errorMessage } from '../../errors.js';
import type { StreamRecord } from '../../record.js';
import { type KeyValueStore, keyValueStore } from '../key-value-store.js';
import type { StateStore } from '../state-store.js';
import type { CheckpointHeader } from './checkpoint-format.js';
import { readCheckpoint, removeUnfinished } from './checkpoint-reader.js';
import { CheckpointWriter } from './checkpoint-writer.js';

const header: CheckpointHeader = {
  applicationId: 'app',
  store: 'devices',
  topic: 'changelog',
  topicId: 'first',
  partition: 3,
  format: 'changelog-values',
  position: 17,
  asOf: 1_000,
};

function newStore(): StateStore & KeyValueStore<string> {
  return keyValueStore<string>({
    changelogTopic: 'changelog',
    serde: { serialize: (text) => Buffer.from(text), deserialize: (bytes) => bytes.toString() },
  }).createStore();
}

function storeOf(entries: readonly (readonly [string, string])[]): StateStore {
  const store = newStore();
  for (const [key, value] of entries) store.put(key, value);
  store.commit();
  return store;
}

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waypost-checkpoint-'));
  path = join(directory, 'app', 'devices-3.checkpoint');
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

type Reading =
  | { readonly type: 'read'; readonly header: CheckpointHeader }
  | { readonly type: 'absent' }
  | { readonly type: 'unusable'; readonly reason: string };

async function read(refusal: string | null = null): Promise<{ reading: Reading; entries: Map<string, string> }> {
  const entries = new Map<string, string>();
  const take = (records: readonly StreamRecord[]): Promise<void> => {
    for (const { key, value } of records) entries.set(String(key), String(value));
    return Promise.resolve();
  };
  const reading = await readCheckpoint(path, () => refusal, take).then(
    (header): Reading => (header ? { type: 'read', header } : { type: 'absent' }),
    (error: unknown): Reading => ({ type: 'unusable', reason: errorMessage(error) }),
  );
  return { reading, entries };
}

const someEntries = Array.from({ length: 8 }, (_, n) => [`key-${String(n)}`, 'v'.repeat(n)] as const);

describe('a checkpoint', () => {
  it('holds every entry of the store, whatever its keys and values are, and what it is a checkpoint of', async () => {
    const texts = fc.string({ unit: 'binary', maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(texts, texts), { maxLength: 50 }), async (entries) => {
        const outcome = await new CheckpointWriter(path, storeOf(entries).scan(), header).finish();
        const result = await read();
        expect(result.entries).toEqual(new Map(entries));
        expect(result.reading).toEqual({ type: 'read', header });
        expect(outcome).toMatchObject({ type: 'written', entries: new Map(entries).size });
      }),
      { numRuns: 25 },
    );
  });

  it('holds more entries than go into one block', async () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => [`key-${String(n)}`, String(n)] as const);
    await new CheckpointWriter(path, storeOf(entries).scan(), header).finish();
    expect((await read()).entries).toEqual(new Map(entries));
  });

  it('holds keys and values of any length', async () => {
    const entries = [
      ['k'.repeat(70_000), 'v'],
      ['key', 'v'.repeat(2_000_000)],
    ] as const;
    await new CheckpointWriter(path, storeOf(entries).scan(), header).finish();
    expect((await read()).entries).toEqual(new Map(entries));
  });

  it('is not used when an earlier version has written it', async () => {
    await new CheckpointWriter(path, storeOf(someEntries).scan(), header).finish();
    const whole = await readFile(path);
    await writeFile(path, Buffer.concat([Buffer.from('WPSTATE1'), whole.subarray(8)]));
    expect((await read()).reading).toEqual({ type: 'unusable', reason: 'it is of another format' });
  });

  it('is not there, rather than wrong, before its last byte is written', async () => {
    const writer = new CheckpointWriter(path, storeOf(someEntries).scan(), header);
    expect((await read()).reading).toEqual({ type: 'absent' });
    await writer.finish();
    expect((await read()).reading.type).toBe('read');
  });

  it('leaves the checkpoint before it in place when it is given up', async () => {
    await new CheckpointWriter(path, storeOf(someEntries).scan(), header).finish();
    const writer = new CheckpointWriter(path, storeOf([['other', '1']]).scan(), header);
    await writer.abort();
    expect(await writer.outcome).toEqual({ type: 'aborted' });
    expect((await read()).entries).toEqual(new Map(someEntries));
    expect(await readdir(join(directory, 'app'))).toEqual(['devices-3.checkpoint']);
  });

  it('reports a directory that cannot be written, and throws nothing', async () => {
    await writeFile(join(directory, 'app'), 'a file where the directory should be');
    const outcome = await new CheckpointWriter(path, storeOf(someEntries).scan(), header).finish();
    expect(outcome.type).toBe('failed');
  });

  it('is not used after being cut at any length', async () => {
    await new CheckpointWriter(path, storeOf(someEntries).scan(), header).finish();
    const whole = await readFile(path);
    for (let length = 0; length < whole.length; length++) {
      await writeFile(path, whole.subarray(0, length));
      expect((await read()).reading).toMatchObject({ type: 'unusable' });
    }
  });

  it('is not used with any byte changed, or with more after it', async () => {
    await new CheckpointWriter(path, storeOf(someEntries).scan(), header).finish();
    const whole = await readFile(path);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(path, changed);
      expect((await read()).reading).toMatchObject({ type: 'unusable' });
    }
    await writeFile(path, Buffer.concat([whole, Buffer.from([0])]));
    expect((await read()).reading).toMatchObject({ type: 'unusable' });
  });

  it('is not used when it is any other file', async () => {
    await new CheckpointWriter(path, storeOf([]).scan(), header).finish();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        await writeFile(path, bytes);
        expect((await read()).reading).toMatchObject({ type: 'unusable' });
      }),
      { numRuns: 50 },
    );
  });

  it('is not used when the reader refuses its header, and gives no entry then', async () => {
    await new CheckpointWriter(path, storeOf(someEntries).scan(), header).finish();
    expect(await read('it is too old')).toEqual({
      reading: { type: 'unusable', reason: 'it is too old' },
      entries: new Map(),
    });
  });

  it('holds what was committed before each step while other transactions continue', async () => {
    const entries = Array.from({ length: 9_000 }, (_, n) => [`key-${String(n)}`, 'old'] as const);
    const store = newStore();
    for (const [key, value] of entries) store.put(key, value);
    store.commit();
    const writer = new CheckpointWriter(path, store.scan(), header);
    for (let round = 0; writer.step(); round++) {
      store.put('key-8999', `new-${String(round)}`);
      store.commit();
      store.put('key-8998', 'never committed');
      store.rollback();
      await flushed();
    }
    await writer.outcome;
    const found = (await read()).entries;
    expect(found.size).toBe(9_000);
    expect(found.get('key-8999')).toMatch(/^new-/);
    expect(found.get('key-8998')).toBe('old');
  });

  it('of a process that was killed leaves a file that is cleared away', async () => {
    await new CheckpointWriter(path, storeOf(someEntries).scan(), header).finish();
    await writeFile(`${path}.4711.tmp`, 'half');
    await removeUnfinished(path);
    expect(await readdir(join(directory, 'app'))).toEqual(['devices-3.checkpoint']);
  });
});
