import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { topics } from '@waypost/contracts';
import { MAX_TIME_MS, type WebhookAttempt } from '@waypost/domain';
import type { StreamsBackend } from '@waypost/streams';
import { until } from '../../../../test/support/until.js';
import { openTestStack } from '../testing/test-stack.js';
import { attemptOf, NOW } from '../testing/walked-deliveries.js';
import {
  type AttemptFollower,
  type AttemptLogReader,
  createAttemptLog,
  type LogPosition,
} from './attempt-log-reader.js';

const TOPIC = topics.webhookAttempts.name;
const MARK = `stream-${randomUUID()}`;

let stack: Awaited<ReturnType<typeof openTestStack>>;
/** Two instances of the API. */
let instances: { readonly log: AttemptLogReader; close(): Promise<void> }[];
let written = 0;
const unusable = new Set<string>();

beforeAll(async () => {
  stack = await openTestStack();
  await stack.codecs.webhookAttempts.prepare();
  instances = [1, 2].map(() => {
    const backend = stack.openBackend();
    return { log: createAttemptLog(backend, stack.codecs, () => NOW), close: () => backend.close() };
  });
});
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.close()));
  await stack.close();
});

/** One attempt in each of two partitions, one with a time that no clock shows, and one record that is no attempt. */
async function writeMore(): Promise<string[]> {
  const partitions = [0, 1].map((partition) => ({ topic: TOPIC, partition }));
  const writer = stack.backend.fencedWriter(`attempt-stream-test.${randomUUID()}`, partitions);
  await writer.init();
  const plan = {
    series: 0,
    device: 'd',
    type: 'position',
    subscription: randomUUID(),
    firstAttemptAt: NOW,
    answers: [200],
  };
  const attempts = partitions.map(() => attemptOf(MARK, { ...plan, event: written++ }, 1));
  const outOfTime = { ...attemptOf(MARK, { ...plan, event: written++ }, 1), eventTime: MAX_TIME_MS + 1 };
  unusable.add(outOfTime.eventId);
  await writer.append([
    { topic: TOPIC, partition: 0, key: Buffer.from('key'), value: Buffer.from('no attempt') },
    recordOf(0, outOfTime),
    ...attempts.map((attempt, partition) => recordOf(partition, attempt)),
  ]);
  await writer.close();
  return attempts.map(({ eventId }) => eventId);
}

function recordOf(partition: number, attempt: WebhookAttempt) {
  const value = stack.codecs.webhookAttempts.encode(attempt);
  return { topic: TOPIC, partition, key: Buffer.from(attempt.subscriptionId), value };
}

interface Seen {
  readonly eventId: string;
  readonly position: LogPosition;
}

/** Follows until `work` has resolved, and gives what this spec has written of it. */
async function following(
  instance: number,
  from: LogPosition | null,
  work: (seen: readonly Seen[], beginnings: readonly LogPosition[]) => Promise<unknown>,
) {
  const seen: Seen[] = [];
  const ending = new AbortController();
  const beginnings: LogPosition[] = [];
  const follower: AttemptFollower = {
    begin: (position) => void beginnings.push(position),
    take({ attempts }) {
      const ours = attempts.filter(({ attempt }) => attempt.fleetId === MARK);
      seen.push(...ours.map(({ attempt, position }) => ({ eventId: attempt.eventId, position })));
      return Promise.resolve();
    },
  };
  const done = instances[instance]?.log.follow(from, follower, ending.signal);
  await work(seen, beginnings);
  ending.abort();
  await done;
  return seen.map(({ eventId }) => eventId);
}

/** Writes until the follower has found the end of the log, and then once more, which it must see. */
async function writeUntilSeen(seen: readonly Seen[]): Promise<void> {
  await until(async () => {
    await writeMore();
    return seen.length > 0;
  });
  const ids = await writeMore();
  await until(() => ids.every((id) => seen.some(({ eventId }) => eventId === id)));
}

describe('the attempt log, followed (R-41)', () => {
  it('gives what is written from now on, at each instance, once, and passes over what the history does not keep', async () => {
    const before = await writeMore();
    for (const ids of await Promise.all([following(0, null, writeUntilSeen), following(1, null, writeUntilSeen)])) {
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.filter((id) => unusable.has(id))).toEqual([]);
      for (const id of before) expect(ids).not.toContain(id);
    }
  });

  it('continues from any position, also at another instance, with nothing lost and nothing twice', async () => {
    const start = await ends();
    const ids = [...(await writeMore()), ...(await writeMore()), ...(await writeMore())];
    let positions: Seen[] = [];
    const whole = await following(0, start, async (seen) => {
      await until(() => seen.length === ids.length);
      positions = [...seen];
    });
    expect(whole.sort()).toEqual([...ids].sort());
    for (const [index, { position }] of positions.entries()) {
      const rest = positions.slice(index + 1).map(({ eventId }) => eventId);
      const again = await following(1, position, (seen) => until(() => seen.length >= rest.length));
      expect(again.sort()).toEqual(rest.sort());
    }
  });

  it('gives everything from the place where it begins, also when that is followed from later', async () => {
    let ids: string[] = [];
    let place: LogPosition = [];
    await following(0, null, async (seen, beginnings) => {
      place = await until(() => beginnings[0] ?? false);
      ids = await writeMore();
      await until(() => ids.every((id) => seen.some(({ eventId }) => eventId === id)));
    });
    const again = await following(1, place, (seen) => until(() => seen.length >= ids.length));
    expect(again.sort()).toEqual(ids.sort());
  });

  it('ends with its signal before it has begun', async () => {
    let hasBegun = false;
    const follower = { begin: () => void (hasBegun = true), take: () => Promise.resolve() };
    await instances[0]?.log.follow(null, follower, AbortSignal.abort());
    expect(hasBegun).toBe(false);
  });

  it('begins where the log begins for a partition that the position does not know', async () => {
    const last = (await writeMore()).at(-1);
    const ids = await following(0, [], (seen) => until(() => seen.some(({ eventId }) => eventId === last)));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(2);
  });

  it('begins no later than at its end, whatever the position says', async () => {
    const beyond = (await ends()).map((offset) => offset + 1_000_000);
    expect(await following(0, beyond, writeUntilSeen)).not.toEqual([]);
  });
});

/** Records that are no attempts, `bytes` of them in each batch. */
async function writeBatches(count: number, bytes: number): Promise<void> {
  const partition = { topic: TOPIC, partition: 0 };
  const writer = stack.backend.fencedWriter(`attempt-stream-test.${randomUUID()}`, [partition]);
  await writer.init();
  for (let n = 0; n < count; n += 1)
    await writer.append([{ ...partition, key: Buffer.from('key'), value: Buffer.alloc(bytes, 'x') }]);
  await writer.close();
}

/** A backend that says how many bytes of records each batch has, before a reader gets it. */
function measured(backend: StreamsBackend, sizes: number[]): StreamsBackend {
  const fetcher: StreamsBackend['fetcher'] = (limits) => {
    const whole = backend.fetcher(limits);
    const open: typeof whole.open = (partition, position) => {
      const feed = whole.open(partition, position);
      const next = async () => {
        const batch = await feed.next();
        sizes.push(batch.records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0));
        return batch;
      };
      return { next, close: () => feed.close() };
    };
    return { open, close: () => whole.close() };
  };
  return Object.create(backend, { fetcher: { value: fetcher } }) as StreamsBackend;
}

describe('a stream that is behind', () => {
  it('holds little of the log, and yet reads a batch that is larger', async () => {
    const start = await ends();
    await writeBatches(20, 100_000);
    await writeBatches(1, 800_000);
    const [end = 0] = await ends();
    const sizes: number[] = [];
    const log = createAttemptLog(measured(stack.backend, sizes), stack.codecs, () => NOW);
    const ending = new AbortController();
    const take = ({ position }: { readonly position: LogPosition }) => {
      if ((position[0] ?? 0) >= end) ending.abort();
      return Promise.resolve();
    };
    await log.follow(start, { begin: () => undefined, take }, ending.signal);
    expect(sizes.filter((size) => size > 192 * 1024)).toEqual([800_000]);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2_800_000);
  });
});

function ends(): Promise<number[]> {
  return Promise.all(
    Array.from({ length: stack.partitions }, (_, partition) => stack.backend.endOffset({ topic: TOPIC, partition })),
  );
}
