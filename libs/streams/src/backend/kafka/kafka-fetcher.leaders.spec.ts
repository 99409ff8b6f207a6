import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { flushed } from '../../../../../test/support/until.js';
import { silentLogger } from '../../logger.js';
import { encodeRecordBatch } from '../../protocol/testing/record-batches.js';
import { StallWatch } from '../../stalls.js';
import type { Fetcher } from '../backend.js';
import type { KafkaClient, RawRequest } from './kafka-client.js';
import { OFFSET_OUT_OF_RANGE } from './kafka-errors.js';
import { KafkaFetcher } from './kafka-fetcher.js';
import type { KafkajsBroker } from './kafkajs/kafkajs-patches.js';
import { EARLIEST } from './offset-lookups.js';

const PARTITION = { topic: 'input', partition: 0 };
const POSITION = 10;
const [FORMER, SUCCESSOR] = [1, 2].map((nodeId) => ({ nodeId }) as KafkajsBroker);

interface Log {
  readonly start: number;
  readonly end: number;
}

let logs: Map<KafkajsBroker | undefined, Log>;
let fetches: number;
/** The metadata names the successor from this reading on. */
let knownAt: number;
let metadataReads: number;
/** A former leader names itself. */
let isOnlyLeaderConnected: boolean;
let fetcher: Fetcher;

const record = encodeRecordBatch([{ key: null, value: Buffer.from('a record') }], 0, {
  producerId: -1,
  producerEpoch: -1,
  baseSequence: -1,
  isTransactional: false,
});
record.writeBigInt64BE(BigInt(POSITION), 0);

function fetchedFrom({ start, end }: Log) {
  const isInLog = POSITION >= start && POSITION <= end;
  const data = isInLog && POSITION < end ? Buffer.from(record) : Buffer.alloc(0);
  const errorCode = isInLog ? 0 : OFFSET_OUT_OF_RANGE;
  return { partitions: [{ ...PARTITION, errorCode, aborted: [], data, highWatermark: end, lastStableOffset: end }] };
}

const leader = (): KafkajsBroker | undefined => (metadataReads < knownAt ? FORMER : SUCCESSOR);

const client = {
  connectedLeader: leader,
  leader: () => Promise.resolve(leader()),
  callRaw: async <T>(broker: KafkajsBroker, _request: RawRequest<T>) => {
    await flushed();
    fetches++;
    return fetchedFrom(logs.get(broker) as Log) as T;
  },
  ask: (broker: KafkajsBroker, _api: string, _version: number, { topics }: { topics: ListedTopic[] }) => {
    const { start, end } = logs.get(broker) as Log;
    const offset = String(topics[0]?.partitions[0]?.timestamp === EARLIEST ? start : end);
    return Promise.resolve({ responses: [{ topic: 'input', partitions: [{ partition: 0, errorCode: 0, offset }] }] });
  },
  anyBroker: () => Promise.resolve(void (isOnlyLeaderConnected = false)),
  refreshMetadata: () => Promise.resolve(void (metadataReads += isOnlyLeaderConnected ? 0 : 1)),
  close: () => Promise.resolve(),
};

interface ListedTopic {
  readonly partitions: readonly { readonly timestamp: number }[];
}

beforeEach(() => {
  [fetches, metadataReads, knownAt, isOnlyLeaderConnected] = [0, 0, Infinity, false];
  jest.useFakeTimers({
    doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setTimeout', 'clearTimeout'],
  });
  const stalls = new StallWatch({ logger: silentLogger, now: Date.now });
  const options = { logger: silentLogger, stalls };
  fetcher = new KafkaFetcher({ client: client as unknown as KafkaClient, ...options });
});

afterEach(async () => {
  jest.useRealTimers();
  await fetcher.close();
});

describe('a leader that is cut off from its cluster', () => {
  it('is left for its successor after a while, although it answers without an error', async () => {
    logs = new Map([
      [FORMER, { start: 0, end: POSITION }],
      [SUCCESSOR, { start: 0, end: POSITION + 1 }],
    ]);
    [knownAt, isOnlyLeaderConnected] = [1, true];
    const batch = fetcher.open(PARTITION, POSITION).next();
    while (fetches < 3) await flushed();
    expect(leader()).toBe(FORMER);
    jest.advanceTimersByTime(60_000);
    expect((await batch).records.map(({ value }) => String(value))).toEqual(['a record']);
  });
});

describe('a position that the leader does not have', () => {
  it('is refused at once when the records there were deleted', async () => {
    logs = new Map([[FORMER, { start: POSITION + 1, end: POSITION + 1 }]]);
    await expect(fetcher.open(PARTITION, POSITION).next()).rejects.toMatchObject({
      code: 'OFFSET_OUT_OF_RANGE',
      message: expect.stringContaining('records were deleted'),
    });
    expect(fetches).toBe(1);
  });

  it('is asked of its successor where a former leader with a shorter log has answered', async () => {
    logs = new Map([
      [FORMER, { start: 0, end: POSITION - 3 }],
      [SUCCESSOR, { start: 0, end: POSITION + 1 }],
    ]);
    [knownAt, isOnlyLeaderConnected] = [3, true];
    const { records } = await fetcher.open(PARTITION, POSITION).next();
    expect(records.map(({ value }) => String(value))).toEqual(['a record']);
  });

  it('is refused with where the log ends when that is before it, and no other leader comes', async () => {
    logs = new Map([[FORMER, { start: 0, end: POSITION - 3 }]]);
    const error: unknown = await fetcher
      .open(PARTITION, POSITION)
      .next()
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: 'OFFSET_OUT_OF_RANGE',
      message: expect.stringContaining('ends before that, at 7'),
    });
    expect(error).toMatchObject({ message: expect.not.stringContaining('records were deleted') });
    expect(metadataReads).toBeGreaterThan(2);
  });
});
