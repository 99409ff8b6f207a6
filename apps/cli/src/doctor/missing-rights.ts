import { type KafkaSettings, silentLogger } from '@waypost/streams';
import { fetchRequest, isDenial, KafkaClient, type KafkajsBroker, produceRequest } from '@waypost/streams/kafka';
import { askInTurn } from './ask-in-turn.js';

/** One operation on one resource; for a transactional id, any name that the permission covers. */
export interface KafkaRight {
  readonly resource: 'topic' | 'group' | 'transactionalId';
  readonly name: string;
  readonly operation: 'READ' | 'WRITE' | 'CREATE' | 'DESCRIBE' | 'DESCRIBE_CONFIGS';
}

type Ask = (name: string, client: KafkaClient, broker: KafkajsBroker) => Promise<number | undefined>;

const NOWHERE = { offset: Number.MAX_SAFE_INTEGER, partition: 0 };
const NOTHING = { maxWaitMs: 0, maxBytes: 1, maxBytesPerPartition: 1 };
const TIMEOUT_MS = 5_000;
/** The type of a resource whose settings are asked for. */
const TOPIC = 2;

/**
 * Requests without effect, which brokers refuse for their content only after checking the rights: an empty batch, an
 * offset beyond the end, the heartbeat of an unknown member, the end of an unknown transaction. So they may be sent to
 * any broker, even of a cluster in use.
 */
const ASK: Readonly<Record<string, Ask>> = {
  'topic READ': async (topic, client, broker) => {
    const { partitions } = await client.callRaw(broker, fetchRequest([{ topic, ...NOWHERE }], NOTHING));
    return partitions[0]?.errorCode;
  },
  'topic WRITE': async (topic, client, broker) => {
    const empty = { topic, partition: 0, batch: Buffer.alloc(0) };
    return (await client.callRaw(broker, produceRequest(null, [empty])))[0]?.errorCode;
  },
  'topic DESCRIBE': async (topic, client, broker) => {
    const wanted = { topics: [topic], allowAutoTopicCreation: false };
    const { topicMetadata } = await client.ask<Topics<'topicMetadata', 'topicErrorCode'>>(
      broker,
      'Metadata',
      6,
      wanted,
    );
    return topicMetadata[0]?.topicErrorCode;
  },
  'topic DESCRIBE_CONFIGS': async (name, client, broker) => {
    const wanted = { resources: [{ type: TOPIC, name, configNames: [] }], includeSynonyms: false };
    const answer = await client.ask<Topics<'resources', 'errorCode'>>(broker, 'DescribeConfigs', 2, wanted);
    return answer.resources[0]?.errorCode;
  },
  'topic CREATE': async (topic, client, broker) => {
    const wanted = {
      topics: [{ topic, numPartitions: 1, replicationFactor: 1 }],
      validateOnly: true,
      timeout: TIMEOUT_MS,
    };
    const answer = await client.ask<Topics<'topicErrors', 'errorCode'>>(broker, 'CreateTopics', 2, wanted);
    return answer.topicErrors[0]?.errorCode;
  },
  'group READ': async (groupId, client, broker) => {
    const member = { groupId, groupGenerationId: 0, memberId: 'none' };
    return (await client.ask<{ errorCode: number }>(broker, 'Heartbeat', 1, member)).errorCode;
  },
  'transactionalId WRITE': async (transactionalId, client, broker) => {
    const producer = { transactionalId, producerId: 0, producerEpoch: 0, transactionResult: false };
    return (await client.ask<{ errorCode: number }>(broker, 'EndTxn', 1, producer)).errorCode;
  },
};

type Topics<List extends string, Code extends string> = Readonly<
  Record<List, readonly Readonly<Record<Code, number>>[]>
>;

/** Returns those of the rights that the login lacks. Changes nothing in the cluster. */
export async function missingRights<Right extends KafkaRight>(
  settings: KafkaSettings,
  rights: readonly Right[],
): Promise<Right[]> {
  const client = new KafkaClient(settings, silentLogger);
  try {
    return await askInTurn(client, (broker) => missingAt(client, broker, rights));
  } finally {
    await client.close();
  }
}

async function missingAt<Right extends KafkaRight>(
  client: KafkaClient,
  broker: KafkajsBroker,
  rights: readonly Right[],
): Promise<Right[]> {
  const missing: Right[] = [];
  for (const right of rights) {
    const ask = ASK[`${right.resource} ${right.operation}`];
    const answer = await ask?.(right.name, client, broker);
    if (answer !== undefined && isDenial(answer)) missing.push(right);
  }
  return missing;
}
