import type { KafkajsBroker, ProtocolExchange } from './kafkajs-types.js';

interface PartitionMetadata {
  readonly partitionErrorCode: number;
  readonly partitionId: number;
  readonly leader: number;
}

export interface MetadataAnswer {
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly partitionMetadata: PartitionMetadata[];
  }[];
}

const METADATA_TIMEOUT_MS = 5_000;
const NO_LEADER = -1;
/** Some replica is away, but the leader is there. */
const REPLICA_NOT_AVAILABLE = 9;

/**
 * An answer in which a partition without a leader is a partition without a leader. kafkajs takes one such partition for
 * a failure of the whole request, so a single offline partition would blind the client for all others.
 */
export const withoutPartitionErrors = <T extends MetadataAnswer>(answer: T): T => ({
  ...answer,
  topicMetadata: answer.topicMetadata.map((topic) => ({
    ...topic,
    partitionMetadata: topic.partitionMetadata.map((partition) => {
      const { partitionErrorCode: code, leader } = partition;
      const kept = code === 0 || code === REPLICA_NOT_AVAILABLE;
      return { ...partition, partitionErrorCode: 0, leader: kept ? leader : NO_LEADER };
    }),
  })),
});

/**
 * Makes a broker of kafkajs ask for metadata our way: offline partitions are tolerated, and a broker that does not answer
 * within seconds is given up, so that the next attempt asks another one.
 */
export const askMetadataOurWay = (
  broker: KafkajsBroker & { metadata(topics?: readonly string[]): Promise<unknown> },
  request: (topics: readonly string[]) => ProtocolExchange<MetadataAnswer>,
): void => {
  broker.metadata = async (topics = []) => {
    const exchange = request(topics);
    try {
      return await broker.connectionPool.send({
        ...exchange,
        requestTimeout: METADATA_TIMEOUT_MS,
        response: {
          decode: (raw) => exchange.response.decode(raw),
          parse: (decoded) => exchange.response.parse(withoutPartitionErrors(decoded as MetadataAnswer)),
        },
      });
    } catch (error) {
      const { name } = error as { name?: string };
      if (name === 'KafkaJSConnectionClosedError' || name === 'KafkaJSRequestTimeoutError') cutConnections(broker);
      throw error;
    }
  };
};

/** kafkajs would go on using a connection that went silent; only the kernel would give it up, after many minutes. */
export const cutConnections = (broker: KafkajsBroker): void => {
  for (const { socket } of broker.connectionPool.pool) socket?.destroy(new Error('the connection is given up'));
};
