import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { StreamsError } from '../../../errors.js';
import type { KafkaSettings } from '../../../kafka-settings.js';
import {
  type KafkajsBroker,
  type PartitionMetadata,
  patchConnection,
  patchMetadata,
  type ProtocolExchange,
  silenceEndedSockets,
  type ToleratedMetadata,
} from './kafkajs-patches.js';
import type { ResponseBufferPool } from './response-buffer-pool.js';

/**
 * The only access to kafkajs's internals. We use its connections, authentication, metadata and plain request codecs;
 * fetching, producing, transactions and group membership are ours (docs/reference/kafkajs.md). Internals may change
 * with any release, so the exact version is asserted.
 */
const SUPPORTED_VERSION = '2.2.4';

interface KafkajsCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): PartitionMetadata[];
  findBroker(node: { nodeId: number | string }): Promise<KafkajsBroker>;
  getNodeIds(): string[];
  readonly brokerPool: {
    readonly brokers: Readonly<Record<string, KafkajsBroker>>;
    /** A new object after each refresh. */
    readonly metadata: ToleratedMetadata | null;
  };
}

interface KafkajsClusterOptions extends KafkaSettings {
  readonly log: (level: number, entry: { namespace: string; message: string }) => void;
  readonly buffers: ResponseBufferPool;
  readonly onSocket: (socket: Socket) => void;
}

interface BrokerPool {
  createBroker: (options: unknown) => KafkajsBroker;
}

type ClusterClass = new (options: object) => KafkajsCluster & { readonly brokerPool: BrokerPool };

type RequestTable = Record<
  string,
  { protocol(o: { version: number }): (parameters: unknown) => ProtocolExchange<unknown> }
>;

interface Loggers {
  createLogger(o: object): unknown;
  readonly LEVELS: Record<string, number>;
}

/** @throws StreamsError KAFKAJS_VERSION when another version of kafkajs is installed */
export function loadKafkajsInternals() {
  const require = createRequire(import.meta.url);
  assertVersion((require('kafkajs/package.json') as { version: string }).version);
  const Cluster = require('kafkajs/src/cluster') as ClusterClass;
  const Encoder = require('kafkajs/src/protocol/encoder') as new (size?: number) => {
    writeBufferInternal(buffer: Buffer): void;
  };
  const { requests } = require('kafkajs/src/protocol/requests') as { requests: RequestTable };
  const loggers = require('kafkajs/src/loggers') as Loggers;
  const createSocketFactory = require('kafkajs/src/network/socketFactory') as () => (options: object) => Socket;
  const request = <T>(api: string, version: number, parameters: unknown): ProtocolExchange<T> => {
    const definition = requests[api];
    if (!definition) throw new StreamsError('PROTOCOL', `kafkajs has no request named ${api}.`);
    return definition.protocol({ version })(parameters) as ProtocolExchange<T>;
  };
  const rawPayload = (payload: Buffer): unknown => {
    const encoder = new Encoder(payload.length);
    encoder.writeBufferInternal(payload);
    return encoder;
  };
  // kafkajs encodes "no topics" as "all topics": a client that needs only the brokers would get every partition.
  const metadata: MetadataRequest = (topics) => {
    const exchange: ReturnType<MetadataRequest> = request('Metadata', 6, { topics, allowAutoTopicCreation: false });
    if (topics.length > 0) return exchange;
    return { ...exchange, request: { ...exchange.request, encode: () => Promise.resolve(rawPayload(NO_TOPICS)) } };
  };
  return {
    createCluster: (options: KafkajsClusterOptions): KafkajsCluster => {
      const socketFactory = silenceEndedSockets(createSocketFactory(), options.onSocket);
      const cluster = new Cluster(clusterOptions(options, loggers, socketFactory));
      patchBrokers(cluster.brokerPool, options.buffers, metadata);
      return cluster;
    },
    rawPayload,
    request,
  };
}

function assertVersion(version: string): void {
  if (version === SUPPORTED_VERSION) return;
  throw new StreamsError(
    'KAFKAJS_VERSION',
    `kafkajs ${version} is installed, but the runtime needs exactly ${SUPPORTED_VERSION}: run npm ci.`,
  );
}

/** Creates every broker of a cluster, the first contact included, with connections that are not open yet. */
function patchBrokers(pool: BrokerPool, buffers: ResponseBufferPool, metadata: MetadataRequest): void {
  const { createBroker } = pool;
  pool.createBroker = (options) => {
    const broker = createBroker(options);
    for (const connection of broker.connectionPool.pool) patchConnection(connection, buffers);
    patchMetadata(broker, metadata);
    return broker;
  };
}

type MetadataRequest = Parameters<typeof patchMetadata>[1];

/** Encodes an empty array of topics, and that no topic is created. */
const NO_TOPICS = Buffer.from([0, 0, 0, 0, 0]);

function clusterOptions(options: KafkajsClusterOptions, loggers: Loggers, socketFactory: unknown): object {
  return {
    logger: loggers.createLogger({
      level: loggers.LEVELS['INFO'],
      logCreator: () => (entry: { level: number; namespace: string; log: { message: string } }) => {
        options.log(entry.level, { namespace: entry.namespace, message: entry.log.message });
      },
    }),
    socketFactory,
    brokers: [...options.brokers],
    ssl: options.ssl,
    sasl: options.sasl,
    clientId: options.clientId,
    connectionTimeout: 5_000,
    authenticationTimeout: 10_000,
    reauthenticationThreshold: 10_000,
    requestTimeout: 30_000,
    enforceRequestTimeout: true,
    allowAutoTopicCreation: false,
    maxInFlightRequests: null,
    // The callers have their own retry rules; this only covers the first contact with a broker that restarts.
    retry: { initialRetryTime: 50, multiplier: 2, factor: 0.2, maxRetryTime: 500, retries: 4 },
  };
}
