import { describe, expect, it } from '@jest/globals';
import { askMetadataOurWay, withoutPartitionErrors, type MetadataAnswer } from './cluster-metadata.js';
import { loadKafkajsInternals } from './kafkajs-internals.js';
import type { KafkajsBroker, ProtocolExchange } from './kafkajs-types.js';

const LEADER_NOT_AVAILABLE = 5;
const REPLICA_NOT_AVAILABLE = 9;
const UNKNOWN_TOPIC = 3;

const answerWith = (topicErrorCode: number, ...partitions: [code: number, leader: number][]): MetadataAnswer => ({
  topicMetadata: [
    {
      topicErrorCode,
      partitionMetadata: partitions.map(([partitionErrorCode, leader], partitionId) => ({
        partitionErrorCode,
        partitionId,
        leader,
      })),
    },
  ],
});

/** A broker whose connection answers with what is already decoded. */
const brokerAnswering = (answer: MetadataAnswer) => {
  const destroyed: string[] = [];
  const broker = {
    connectionPool: {
      send: async (exchange: ProtocolExchange<unknown>) => exchange.response.parse(answer),
      pool: [{ socket: { destroy: (error: Error) => void destroyed.push(error.message) } }],
    },
    metadata: (_topics?: readonly string[]): Promise<unknown> => Promise.reject(new Error('kafkajs was asked')),
  };
  const { request } = loadKafkajsInternals();
  askMetadataOurWay(broker as unknown as KafkajsBroker & typeof broker, (topics) =>
    request<MetadataAnswer>('Metadata', 6, { topics, allowAutoTopicCreation: false }),
  );
  return { broker, destroyed };
};

describe('the metadata of a cluster', () => {
  it('tells a partition without a leader from the others instead of failing for all', async () => {
    const answer = answerWith(0, [0, 2], [LEADER_NOT_AVAILABLE, -1], [REPLICA_NOT_AVAILABLE, 3]);
    const { broker } = brokerAnswering(answer);
    const { topicMetadata } = (await broker.metadata(['a topic'])) as MetadataAnswer;
    expect(topicMetadata[0]?.partitionMetadata.map(({ leader }) => leader)).toEqual([2, -1, 3]);
  });

  it('knows no leader of a partition with any other error', () => {
    const { topicMetadata } = withoutPartitionErrors(answerWith(0, [72, 2]));
    expect(topicMetadata[0]?.partitionMetadata[0]).toMatchObject({ partitionErrorCode: 0, leader: -1 });
  });

  it('still fails for a topic that does not exist', async () => {
    const { broker } = brokerAnswering(answerWith(UNKNOWN_TOPIC));
    await expect(broker.metadata(['nowhere'])).rejects.toMatchObject({ code: UNKNOWN_TOPIC });
  });

  it('gives a connection up that does not answer', async () => {
    const { broker, destroyed } = brokerAnswering(answerWith(0));
    broker.connectionPool.send = () =>
      Promise.reject(Object.assign(new Error('late'), { name: 'KafkaJSRequestTimeoutError' }));
    await expect(broker.metadata([])).rejects.toThrow('late');
    expect(destroyed).toEqual(['the connection is given up']);
  });
});
