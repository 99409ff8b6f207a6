import { describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import { ByteReader } from '../../protocol/bytes.js';
import type { FetchedPartition, FetchSizes } from '../../protocol/fetch.js';
import { StallWatch } from '../../stalls.js';
import type { Fetcher } from '../backend.js';
import type { KafkaClient } from './kafka-client.js';
import { KafkaFetcher } from './kafka-fetcher.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';
import { ResponseBufferPool } from './kafkajs/response-buffer-pool.js';
import { batchOf, fetchedResponse, RESPONSE_BYTES, RESPONSE_TOPIC } from './testing/fetched-response.js';

const UNREACHABLE = 0;
const REACHABLE = 1;
const OFFSET_METADATA_TOO_LARGE = 12;
/** Places in a fetch request. */
const [MAX_BYTES_AT, FETCH_END_BYTES] = [12, 6];
const never = new Promise<never>(() => undefined);

const nothing = { topic: RESPONSE_TOPIC, partition: REACHABLE, data: Buffer.alloc(0) };

/** The leader of one partition takes for ever to be reached; the other's is there and answers with an error of its own. */
const client = {
  connectedLeader: (_topic, partition) => (partition === REACHABLE ? ({ nodeId: 1 } as KafkajsBroker) : null),
  leader: () => never,
  callRaw: () => Promise.resolve({ partitions: [{ ...nothing, errorCode: OFFSET_METADATA_TOO_LARGE }] }),
  close: () => Promise.resolve(),
} as Partial<KafkaClient>;

const stalls = new StallWatch({ logger: silentLogger, now: Date.now });

function fetcherOf(of: Partial<KafkaClient>, sizes?: FetchSizes): Fetcher {
  return new KafkaFetcher({ client: of as KafkaClient, logger: silentLogger, stalls, sizes });
}

/** What a fetch request asks for. */
function positionsOf(payload: Buffer): { partition: number; offset: number }[] {
  const reader = new ByteReader(payload);
  reader.position = 25;
  return reader
    .array(() => {
      reader.string();
      return reader.array(() => {
        const partition = reader.int32();
        reader.int32();
        const offset = reader.int64();
        reader.position += 12;
        return { partition, offset };
      });
    })
    .flat();
}

/** As a broker answers: the first partition gets its next batch, however large; those that have no room left get nothing. */
function fetchedOf({ partition, offset }: { partition: number; offset: number }, hasRoom: boolean): FetchedPartition {
  const data = batchOf('x'.repeat(200_000));
  data.writeBigInt64BE(BigInt(offset));
  const ends = { highWatermark: 1_000, lastStableOffset: 1_000 };
  return { ...nothing, partition, errorCode: 0, aborted: [], ...ends, ...(hasRoom && { data }) };
}

describe('the fetcher', () => {
  it('reads a partition while the leader of another cannot be reached', async () => {
    const fetcher = fetcherOf(client);
    fetcher.open({ topic: RESPONSE_TOPIC, partition: UNREACHABLE }, 0);
    const feed = fetcher.open({ topic: RESPONSE_TOPIC, partition: REACHABLE }, 0);
    await expect(feed.next()).rejects.toMatchObject({ code: 'REQUEST_REFUSED' });
    await fetcher.close();
  });

  it('asks for as many bytes as its reader has given it', async () => {
    const asked: number[] = [];
    const callRaw: KafkaClient['callRaw'] = (_broker, { payload }) => {
      asked.push(payload.readInt32BE(MAX_BYTES_AT), payload.readInt32BE(payload.length - FETCH_END_BYTES - 4));
      return never;
    };
    const sizes = { maxBytes: 7_000, maxBytesPerPartition: 3_000 };
    const fetcher = fetcherOf({ ...client, callRaw }, sizes);
    void fetcher.open({ topic: RESPONSE_TOPIC, partition: REACHABLE }, 0).next();
    await until(() => asked.length > 0);
    expect(asked).toEqual([7_000, 3_000]);
    await fetcher.close();
  });

  it('fails for a partition that this user may not read, and says what to grant', async () => {
    const denied = { ...nothing, errorCode: 29 };
    const callRaw = () => Promise.resolve({ partitions: [denied] });
    const fetcher = fetcherOf({ ...client, callRaw } as Partial<KafkaClient>);
    const feed = fetcher.open({ topic: RESPONSE_TOPIC, partition: REACHABLE }, 0);
    await expect(feed.next()).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      message: expect.stringContaining('Grant'),
    });
    await fetcher.close();
  });

  it('looks for the leader of a partition that waits once, and not again whenever another one comes', async () => {
    let lookups = 0;
    const fetches: number[] = [];
    const leader = { nodeId: 1 } as KafkajsBroker;
    const busy: Partial<KafkaClient> = {
      ...client,
      connectedLeader: () => {
        lookups++;
        return leader;
      },
      callRaw: (_broker, { payload }) => {
        fetches.push(payload.length);
        return never;
      },
    };
    const fetcher = fetcherOf(busy);
    const count = 200;
    for (let partition = 0; partition < count; partition++) {
      void fetcher.open({ topic: RESPONSE_TOPIC, partition }, 0).next();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([fetches.length, lookups]).toEqual([1, count]);
    await fetcher.close();
  });

  it('reads every partition while a batch of each is larger than a response may be', async () => {
    const asked: number[][] = [];
    const leader = { nodeId: 1 } as KafkajsBroker;
    const full: Partial<KafkaClient> = {
      ...client,
      connectedLeader: () => leader,
      callRaw: (async (_broker, { payload }) => {
        const positions = positionsOf(payload);
        asked.push(positions.map(({ partition }) => partition));
        if (asked.length > 8) return never;
        await new Promise((resolve) => setImmediate(resolve));
        return { partitions: positions.map((position, index) => fetchedOf(position, index === 0)) };
      }) as KafkaClient['callRaw'],
    };
    const fetcher = fetcherOf(full);
    const offsets: number[] = [0, 0];
    const readers = offsets.map(async (_, partition) => {
      const feed = fetcher.open({ topic: RESPONSE_TOPIC, partition }, 0);
      for (;;) offsets[partition] = (await feed.next()).nextOffset;
    });
    await Promise.race([...readers, until(() => asked.length > 8)]);
    expect(offsets).toEqual([4, 4]);
    await fetcher.close();
  });

  it.each([
    ['both brought something', ['first', 'second']],
    ['another one before them brought nothing', [null, 'first', 'second']],
  ])('lets no partition give memory back that another one waits with, when %s', async (_when, texts) => {
    const memory = new ResponseBufferPool();
    const partitions = fetchedResponse(memory, texts);
    const used = partitions[0]?.data.buffer;
    let answers = [{ partitions }];
    const leader = { nodeId: 1 } as KafkajsBroker;
    const one: Partial<KafkaClient> = {
      connectedLeader: () => leader,
      leader: () => Promise.resolve(leader),
      close: () => Promise.resolve(),
      callRaw: (() => {
        const [answer] = answers;
        answers = [];
        return answer ? Promise.resolve(answer) : never;
      }) as unknown as KafkaClient['callRaw'],
    };
    const fetcher = fetcherOf(one);
    const feeds = texts.map((_text, partition) => fetcher.open({ topic: RESPONSE_TOPIC, partition }, 0));
    const waiting = feeds.slice(-2).map((feed) => feed.next());
    const first = await waiting[0];
    first?.release?.();
    expect(memory.take(RESPONSE_BYTES).buffer).not.toBe(used);
    const second = await waiting[1];
    expect(second?.records.map(({ value }) => String(value))).toEqual(['second']);
    second?.release?.();
    expect(memory.take(RESPONSE_BYTES).buffer).toBe(used);
    await fetcher.close();
  });
});
