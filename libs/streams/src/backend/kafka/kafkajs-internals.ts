import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { StreamsError } from '../../errors.js';
import { askMetadataOurWay } from './cluster-metadata.js';
import type { KafkajsBroker, ProtocolExchange } from './kafkajs-types.js';
import {
  patchIdleTimer,
  patchReceive,
  patchSharedConnect,
  silenceEndedSockets,
  type Connection,
  type ReceivingConnection,
  type RequestQueue,
} from './kafkajs-patches.js';

/**
 * The one door to kafkajs's internals: connections, authentication, metadata and the plain request codecs are its own;
 * fetching, producing, transactions and group membership are ours (docs/decisions says why). Anything reached here
 * may change with any release, so the exact version is asserted.
 */
const SUPPORTED_VERSION = '2.2.4';

export interface KafkajsPartitionMetadata {
  readonly partitionId: number;
  readonly leader: number;
}

export interface KafkajsCluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): KafkajsPartitionMetadata[];
  findBroker(node: { nodeId: number | string }): Promise<KafkajsBroker>;
  getNodeIds(): string[];
  readonly brokerPool: { readonly brokers: Readonly<Record<string, KafkajsBroker>> };
}

export interface KafkajsClusterOptions {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly ssl?: boolean | ConnectionOptions | undefined;
  readonly sasl?: unknown;
  readonly log: (level: number, entry: { namespace: string; message: string }) => void;
}

interface Encoder {
  writeBufferInternal(buffer: Buffer): void;
}

type RequestTable = Record<
  string,
  { protocol(o: { version: number }): (parameters: unknown) => ProtocolExchange<unknown> }
>;

type MetadataBroker = Parameters<typeof askMetadataOurWay>[0];

interface BrokerPool {
  createBroker: (options: unknown) => MetadataBroker;
}

export interface KafkajsInternals {
  createCluster(options: KafkajsClusterOptions): KafkajsCluster;
  /** A payload that is already encoded. */
  rawPayload(payload: Buffer): unknown;
  request<T>(api: string, version: number, parameters: unknown): ProtocolExchange<T>;
}

/** @throws StreamsError KAFKAJS_VERSION when another version of kafkajs is installed */
export const loadKafkajsInternals = (): KafkajsInternals => {
  const require = createRequire(import.meta.url);
  const { version } = require('kafkajs/package.json') as { version: string };
  if (version !== SUPPORTED_VERSION) {
    throw new StreamsError(
      'KAFKAJS_VERSION',
      `kafkajs ${version} is installed, but the runtime is made for exactly ${SUPPORTED_VERSION}: run npm ci.`,
    );
  }
  const Cluster = require('kafkajs/src/cluster') as new (
    options: object,
  ) => KafkajsCluster & { brokerPool: BrokerPool };
  const EncoderClass = require('kafkajs/src/protocol/encoder') as new (size?: number) => Encoder;
  const { requests } = require('kafkajs/src/protocol/requests') as { requests: RequestTable };
  const loggers = require('kafkajs/src/loggers') as {
    createLogger(o: object): unknown;
    LEVELS: Record<string, number>;
  };
  const createSocket = require('kafkajs/src/network/socketFactory') as () => (options: object) => Socket;
  const socketFactory = silenceEndedSockets(createSocket());
  patchIdleTimer((require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue }).prototype);
  const connection = require('kafkajs/src/network/connection') as { prototype: Connection & ReceivingConnection };
  patchSharedConnect(connection.prototype);
  patchReceive(connection.prototype);
  const request = <T>(api: string, requestVersion: number, parameters: unknown): ProtocolExchange<T> => {
    const definition = requests[api];
    if (!definition) throw new StreamsError('PROTOCOL', `kafkajs knows no request named ${api}.`);
    return definition.protocol({ version: requestVersion })(parameters) as ProtocolExchange<T>;
  };
  return {
    createCluster: (options) => {
      const cluster = new Cluster(clusterOptions(options, loggers, socketFactory));
      const { brokerPool } = cluster;
      const { createBroker } = brokerPool;
      brokerPool.createBroker = (brokerOptions) => {
        const broker = createBroker(brokerOptions);
        askMetadataOurWay(broker, (topics) => request('Metadata', 6, { topics, allowAutoTopicCreation: false }));
        return broker;
      };
      return cluster;
    },
    rawPayload: (payload) => {
      const encoder = new EncoderClass(payload.length);
      encoder.writeBufferInternal(payload);
      return encoder;
    },
    request,
  };
};

const clusterOptions = (
  options: KafkajsClusterOptions,
  loggers: { createLogger(o: object): unknown; LEVELS: Record<string, number> },
  socketFactory: unknown,
): object => ({
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
  metadataMaxAge: 300_000,
  allowAutoTopicCreation: false,
  maxInFlightRequests: null,
  // The callers retry by their own rules; here only the first contact with a broker that restarts is bridged.
  retry: { initialRetryTime: 50, multiplier: 2, factor: 0.2, maxRetryTime: 500, retries: 4 },
});
