import { randomUUID } from 'node:crypto';
import { CLOCKS_AGREE_WITHIN_MS } from '@waypost/domain';
import { type KafkaSettings, StreamsError } from '@waypost/streams';
import { connectKafka, openAdmin, untilTopicsKnown } from '@waypost/streams/admin';
import { messageOf } from '../terminal/message-of.js';
import { type Asked, clockSkewMs } from './clock-skew.js';
import { type Finding, ok, problem, warning } from './finding.js';

type Admin = Awaited<ReturnType<typeof openAdmin>>;

interface TryOptions {
  readonly replicationFactor: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

const ABOUT = 'kafka';

/**
 * Makes a topic that every broker leads a partition of, writes to all of them in one transaction and deletes the topic.
 * No reading shows whether transactions work, and brokers tell their time only by what they stamp.
 */
export async function tryCluster(settings: KafkaSettings, options: TryOptions): Promise<Finding[]> {
  let admin: Admin;
  try {
    admin = await openAdmin(settings);
  } catch (error) {
    if (!(error instanceof StreamsError)) throw error;
    return [problem(ABOUT, 'nothing could be tried', error.message)];
  }
  try {
    const topic = `waypost-doctor-${randomUUID()}`;
    return await tryTopic(admin, topic, options.replicationFactor, (nodes) =>
      tryTransaction(settings, topic, nodes, options.now),
    );
  } finally {
    await admin.disconnect();
  }
}

type TopicAdmin = Pick<Admin, 'describeCluster' | 'createTopics' | 'deleteTopics' | 'fetchTopicMetadata'>;

const RIGHTS =
  'This needs Create, Write and Delete on topics, and Write on transactional ids, that begin with waypost-doctor-.';

/** @param attempt what is tried with the topic, on these brokers */
export async function tryTopic(
  admin: TopicAdmin,
  topic: string,
  replicationFactor: number,
  attempt: (nodes: readonly number[]) => Promise<Finding[]>,
): Promise<Finding[]> {
  let nodes: readonly number[];
  try {
    const { brokers } = await admin.describeCluster();
    nodes = brokers.map(({ nodeId }) => nodeId).sort((a, b) => a - b);
    // kafkajs's own wait fails on a topic that a busy broker does not know yet.
    await admin.createTopics({ waitForLeaders: false, topics: [topicOf(topic, nodes, replicationFactor)] });
  } catch (error) {
    return [notCreated(error)];
  }
  const found = await untilTopicsKnown(admin, [topic])
    .then(() => attempt(nodes))
    .catch((error: unknown) => [notCreated(error)]);
  return [...found, ...(await deleteTopic(admin, topic))];
}

function notCreated(error: unknown): Finding {
  const reason = messageOf(error);
  // kafkajs asks for all topics.
  const fix = /no leader|leader.*not available/i.test(reason)
    ? 'A partition of some topic has no leader: start the broker that is down.'
    : RIGHTS;
  return problem(ABOUT, `a test topic cannot be created: ${reason}`, fix);
}

async function deleteTopic(admin: TopicAdmin, topic: string): Promise<Finding[]> {
  try {
    await admin.deleteTopics({ topics: [topic] });
    return [];
  } catch (error) {
    const fix = `${RIGHTS} Delete it: kafka-topics --delete --topic ${topic}`;
    return [warning(ABOUT, `the test topic ${topic} cannot be deleted: ${messageOf(error)}`, fix)];
  }
}

/** The first replica is the leader. */
function topicOf(topic: string, nodes: readonly number[], replicationFactor: number) {
  const replicaAssignment = nodes.map((_, partition) => {
    const inTurn = [...nodes.slice(partition), ...nodes.slice(0, partition)];
    return { partition, replicas: inTurn.slice(0, replicationFactor) };
  });
  return { topic, replicaAssignment, configEntries: [{ name: 'message.timestamp.type', value: 'LogAppendTime' }] };
}

async function tryTransaction(
  settings: KafkaSettings,
  topic: string,
  nodes: readonly number[],
  now: () => number,
): Promise<Finding[]> {
  const producer = connectKafka(settings).producer({
    transactionalId: topic,
    idempotent: true,
    maxInFlightRequests: 1,
  });
  try {
    await producer.connect();
    const transaction = await producer.transaction();
    const startedAt = now();
    const written = await transaction.send({
      topic,
      messages: nodes.map((_, partition) => ({ partition, value: 'try' })),
    });
    const endedAt = now();
    await transaction.commit();
    const clocks = written.flatMap(({ partition, logAppendTime }) =>
      checkClock(nodes[partition], Number(logAppendTime), { startedAt, endedAt }),
    );
    return [ok(ABOUT, 'a transaction to all brokers was committed'), ...clocks];
  } catch (error) {
    const fix =
      'Look at the logs of the brokers: most often transaction.state.log.replication.factor exceeds the number of brokers.';
    return [problem(ABOUT, `a transaction fails: ${messageOf(error)}`, fix)];
  } finally {
    await producer.disconnect();
  }
}

function checkClock(node: number | undefined, appendedAt: number, asked: Asked): Finding[] {
  const skewMs = clockSkewMs(appendedAt, asked);
  if (Math.abs(skewMs) <= CLOCKS_AGREE_WITHIN_MS) return [];
  const what = `the clock of broker ${String(node)} differs by ${String(Math.round(skewMs / 1_000))} s`;
  return [
    warning(
      ABOUT,
      what,
      'Synchronize the clocks (NTP): pings are compared with the clock of the broker, and may count as from the future.',
    ),
  ];
}
