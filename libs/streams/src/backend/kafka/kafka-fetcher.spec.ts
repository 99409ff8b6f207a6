import { describe, expect, it } from '@jest/globals';
import { silentLogger } from '../../logger.js';
import type { KafkaClient } from './kafka-client.js';
import { createKafkaFetcher, DEFAULT_FETCH_LIMITS } from './kafka-fetcher.js';
import { KAFKA_ERROR } from './kafka-errors.js';
import type { KafkajsBroker } from './kafkajs-types.js';

const UNREACHABLE = 0;
const REACHABLE = 1;
const never = new Promise<never>(() => undefined);

/** The leader of one partition takes for ever to be reached; the other's is there and answers with an error of its own. */
const client = {
  connectedLeader: (_topic, partition) => (partition === REACHABLE ? ({ nodeId: 1 } as KafkajsBroker) : null),
  leader: () => never,
  callRaw: () =>
    Promise.resolve({
      partitions: [{ topic: 'a topic', partition: REACHABLE, errorCode: KAFKA_ERROR.offsetOutOfRange }],
    }),
  close: () => Promise.resolve(),
} as Partial<KafkaClient> as KafkaClient;

describe('the fetcher', () => {
  it('reads a partition while the leader of another cannot be reached', async () => {
    const fetcher = createKafkaFetcher(client, silentLogger, DEFAULT_FETCH_LIMITS);
    fetcher.open({ topic: 'a topic', partition: UNREACHABLE }, 0);
    const feed = fetcher.open({ topic: 'a topic', partition: REACHABLE }, 0);
    await expect(feed.next()).rejects.toMatchObject({ code: 'OFFSET_OUT_OF_RANGE' });
    await fetcher.close();
  });

  it('gives a partition up that this user may not read, and says what to grant', async () => {
    const denied = { topic: 'a topic', partition: REACHABLE, errorCode: KAFKA_ERROR.topicAuthorizationFailed };
    const callRaw = () => Promise.resolve({ partitions: [denied] });
    const fetcher = createKafkaFetcher({ ...client, callRaw } as KafkaClient, silentLogger, DEFAULT_FETCH_LIMITS);
    const feed = fetcher.open({ topic: 'a topic', partition: REACHABLE }, 0);
    await expect(feed.next()).rejects.toMatchObject({
      code: 'ACCESS_DENIED',
      message: expect.stringContaining('grant'),
    });
    await fetcher.close();
  });
});
