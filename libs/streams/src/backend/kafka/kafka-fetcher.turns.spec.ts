import { expect, it } from '@jest/globals';
import { flushed, until } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import type { FetchedPartition } from '../../protocol/fetch.js';
import { encodeRecordBatch } from '../../protocol/testing/record-batches.js';
import type { StallWatch } from '../../stalls.js';
import type { KafkaClient, RawRequest } from './kafka-client.js';
import { KafkaFetcher } from './kafka-fetcher.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';

const TOPIC = 'input';
const END = 1_000_000;
/** So many partitions have room in an answer, of those that have records. */
const ROOM = 2;
/** Has no records. */
const EMPTY = 0;
const WITH_BACKLOG = [1, 2, 3, 4, 5];

const batch = encodeRecordBatch([{ key: null, value: Buffer.alloc(200_000) }], 0, {
  producerId: -1,
  producerEpoch: -1,
  baseSequence: -1,
  isTransactional: false,
});

/** What a fetch of one topic asks for, in its order. */
function positionsIn(payload: Buffer): { partition: number; offset: number }[] {
  const countAt = 31 + payload.readInt16BE(29);
  return Array.from({ length: payload.readInt32BE(countAt) }, (_, index) => {
    const at = countAt + 4 + index * 28;
    return { partition: payload.readInt32BE(at), offset: Number(payload.readBigInt64BE(at + 8)) };
  });
}

/** As a broker does, in the order of the request until the answer is full. */
function answerTo(payload: Buffer): FetchedPartition[] {
  let room = ROOM;
  return positionsIn(payload).map(({ partition, offset }) => {
    const end = partition === EMPTY ? offset : END;
    const data = Buffer.from(end > offset && room-- > 0 ? batch : []);
    if (data.length > 0) data.writeBigInt64BE(BigInt(offset), 0);
    return { topic: TOPIC, partition, errorCode: 0, aborted: [], data, highWatermark: end, lastStableOffset: end };
  });
}

it('a partition of which a leader sends nothing, although nothing comes before it, counts as blocked', async () => {
  const blocked: string[] = [];
  const leader = { nodeId: 1 } as KafkajsBroker;
  const nothing = { errorCode: 0, highWatermark: 9, lastStableOffset: 9, aborted: [], data: Buffer.alloc(0) };
  const fetcher = new KafkaFetcher({
    client: {
      connectedLeader: () => leader,
      close: () => Promise.resolve(),
      callRaw: async <T>() => {
        await flushed();
        return { partitions: [{ topic: TOPIC, partition: 1, ...nothing }] } as T;
      },
    } as unknown as KafkaClient,
    logger: silentLogger,
    stalls: {
      begin: (_kind, _name, cause) => (blocked.push(cause), () => undefined),
    } as Partial<StallWatch> as StallWatch,
  });
  void fetcher.open({ topic: TOPIC, partition: 1 }, 0).next();
  await until(() => blocked.length > 0);
  await fetcher.close();
  expect(blocked).toEqual(['Its leader sends nothing of it.']);
});

it('a leader serves all partitions with a backlog in turn, and none of them counts as blocked', async () => {
  const taken = new Map(WITH_BACKLOG.map((partition) => [partition, 0]));
  const blocked: string[] = [];
  let answers = 0;
  const leader = { nodeId: 1 } as KafkajsBroker;
  const client: Partial<KafkaClient> = {
    connectedLeader: () => leader,
    close: () => Promise.resolve(),
    callRaw: async <T>(_broker: KafkajsBroker, { payload }: RawRequest<T>) => {
      await flushed();
      answers++;
      return { partitions: answerTo(payload) } as T;
    },
  };
  const stalls: Partial<StallWatch> = {
    begin: (_kind, name, cause) => {
      blocked.push(`${name}: ${cause}`);
      return () => undefined;
    },
  };
  const fetcher = new KafkaFetcher({
    client: client as KafkaClient,
    logger: silentLogger,
    stalls: stalls as StallWatch,
  });
  void fetcher.open({ topic: TOPIC, partition: EMPTY }, 0).next();
  for (const partition of WITH_BACKLOG) {
    const feed = fetcher.open({ topic: TOPIC, partition }, 0);
    const read = async (): Promise<void> => {
      for (;;) taken.set(partition, (await feed.next()).nextOffset);
    };
    void read();
  }
  await until(() => answers >= 50);
  await fetcher.close();
  // Each takes a fifth of what has come, give or take the turn that is under way.
  const share = (answers * ROOM) / WITH_BACKLOG.length;
  expect(Math.min(...taken.values())).toBeGreaterThan(share - 3);
  expect(blocked).toEqual([]);
});
