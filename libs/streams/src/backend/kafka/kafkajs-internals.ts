import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { StreamsError } from '../../errors.js';

/**
 * The one door to kafkajs's internals: connections, authentication, metadata and the plain request codecs are its own;
 * fetching, producing, transactions and group membership are ours (docs/decisions says why). Anything reached here
 * may change with any release, so the exact version is asserted.
 */
const SUPPORTED_VERSION = '2.2.4';

export interface ProtocolRequest {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  readonly encode: () => Promise<unknown>;
}

export interface ProtocolExchange<T> {
  readonly request: ProtocolRequest;
  readonly response: { decode(raw: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<T> };
  readonly requestTimeout?: number | null;
}

export interface KafkajsBroker {
  readonly nodeId: number | null;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  isConnected(): boolean;
  readonly connectionPool: {
    send(exchange: ProtocolExchange<unknown>): Promise<unknown>;
    readonly pool: readonly { readonly socket?: Socket | null }[];
  };
}

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

export interface KafkajsInternals {
  createCluster(options: KafkajsClusterOptions): KafkajsCluster;
  /** A payload that is already encoded. */
  rawPayload(payload: Buffer): unknown;
  request<T>(api: string, version: number, parameters: unknown): ProtocolExchange<T>;
}

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

const IDLE_TIMER_PATCHED = Symbol.for('waypost.streams.idleTimerPatched');

/** kafkajs re-arms a timer of some milliseconds on every connection for ever; only a queue that holds something needs it. */
const patchIdleTimer = (prototype: RequestQueue & { [IDLE_TIMER_PATCHED]?: true }): void => {
  if (prototype[IDLE_TIMER_PATCHED]) return;
  const { value: original } = Object.getOwnPropertyDescriptor(prototype, 'scheduleCheckPendingRequests') as {
    value: (this: RequestQueue) => void;
  };
  prototype.scheduleCheckPendingRequests = function scheduleOnlyWhenPending(this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this);
  };
  prototype[IDLE_TIMER_PATCHED] = true;
};

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
  const Cluster = require('kafkajs/src/cluster') as new (options: object) => KafkajsCluster;
  const EncoderClass = require('kafkajs/src/protocol/encoder') as new (size?: number) => Encoder;
  const { requests } = require('kafkajs/src/protocol/requests') as { requests: RequestTable };
  const loggers = require('kafkajs/src/loggers') as {
    createLogger(o: object): unknown;
    LEVELS: Record<string, number>;
  };
  const socketFactory = (require('kafkajs/src/network/socketFactory') as () => unknown)();
  patchIdleTimer((require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue }).prototype);
  return {
    createCluster: (options) => new Cluster(clusterOptions(options, loggers, socketFactory)),
    rawPayload: (payload) => {
      const encoder = new EncoderClass(payload.length);
      encoder.writeBufferInternal(payload);
      return encoder;
    },
    request: <T>(api: string, requestVersion: number, parameters: unknown) => {
      const definition = requests[api];
      if (!definition) throw new StreamsError('PROTOCOL', `kafkajs knows no request named ${api}.`);
      return definition.protocol({ version: requestVersion })(parameters) as ProtocolExchange<T>;
    },
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
