import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, StreamsError } from '../../errors.js';
import type { KafkaSettings } from '../../kafka-settings.js';
import type { StreamsLogger } from '../../logger.js';
import {
  isConnectionFailure,
  isRepeatable,
  kafkaErrorCode,
  loginRefusalOr,
  parkingOr,
  reactionTo,
  refusal,
  unavailableOr,
  UNKNOWN_TOPIC_OR_PARTITION,
} from './kafka-errors.js';
import { loadKafkajsInternals } from './kafkajs/kafkajs-internals.js';
import {
  cutConnections,
  type KafkajsBroker,
  type PartitionMetadata,
  type ProtocolExchange,
} from './kafkajs/kafkajs-patches.js';
import { ResponseBufferPool } from './kafkajs/response-buffer-pool.js';

export interface RawRequest<T> {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly apiName: string;
  readonly payload: Buffer;
  readonly decode: (payload: Buffer) => T;
}

type CoordinatorType = 'group' | 'transaction';

const COORDINATOR_TYPE = { group: 0, transaction: 1 } as const;
const RETRY_FIRST_MS = 20;
const RETRY_MAX_MS = 1_000;
const KAFKAJS_LEVEL_WARN = 2;
const ANSWER_TIMEOUT_MS = 15_000;
const COORDINATOR_TIMEOUT_MS = 3_000;
const CLOSE_WAIT_MS = 500;

/**
 * One set of connections to the cluster. Kafka handles the requests of a connection in order, and a JoinGroup or a long
 * fetch blocks the requests after it, so each purpose (membership, fetching, each producer) has a client of its own.
 */
export class KafkaClient {
  private readonly internals = loadKafkajsInternals();
  private readonly cluster;
  /** Partitions by topic and number, from kafkajs's current metadata. */
  private readonly partitions = new Map<string, PartitionMetadata[]>();
  private indexed: object | null = null;
  private readonly coordinators = new Map<string, string>();
  private readonly topics = new Set<string>();
  private readonly brokers = new Set<KafkajsBroker>();
  private readonly sockets = new Set<Socket>();
  private askedNodes = 0;
  private connecting: Promise<void> | null = null;
  private closed = false;

  /** @param buffers for large responses; the clients of a backend share them */
  constructor(settings: KafkaSettings, logger: StreamsLogger, buffers = new ResponseBufferPool()) {
    this.cluster = this.internals.createCluster({
      ...settings,
      buffers,
      onSocket: (socket) => {
        this.own(socket);
      },
      log: (level, { namespace, message }) => {
        // kafkajs logs every response with an error code at ERROR, even expected ones; the callers decide.
        if (level <= KAFKAJS_LEVEL_WARN) logger.debug('kafka_client_said', { namespace, message });
      },
    });
  }

  /** Sends a request in kafkajs's own codec. @throws kafkajs's protocol and connection errors */
  async call<T>(
    broker: KafkajsBroker,
    api: string,
    version: number,
    parameters: unknown,
    timeoutMs?: number,
  ): Promise<T> {
    const exchange = this.internals.request<T>(api, version, parameters);
    return (await this.send(broker, exchange, timeoutMs)) as T;
  }

  /** Like call(), but leaves error codes in the response. */
  async ask<T>(broker: KafkajsBroker, api: string, version: number, parameters: unknown): Promise<T> {
    const { request, response } = this.internals.request<T>(api, version, parameters);
    const parse = (decoded: unknown): Promise<unknown> => Promise.resolve(decoded);
    const exchange = { request, response: { decode: (raw: Buffer) => response.decode(raw), parse } };
    return (await this.send(broker, exchange)) as T;
  }

  async callRaw<T>(broker: KafkajsBroker, request: RawRequest<T>, timeoutMs?: number): Promise<T> {
    const { apiKey, apiVersion, apiName, payload, decode } = request;
    const exchange = {
      request: { apiKey, apiVersion, apiName, encode: () => Promise.resolve(this.internals.rawPayload(payload)) },
      response: {
        decode: (raw: Buffer) => Promise.resolve({ result: decode(raw), clientSideThrottleTime: 0 }),
        parse: (decoded: unknown) => Promise.resolve((decoded as { result: T }).result),
      },
    };
    return (await this.send(broker, exchange, timeoutMs)) as T;
  }

  /** kafkajs would keep a silent connection for minutes. Its other requests fail too, and are retried elsewhere. */
  private async send(
    broker: KafkajsBroker,
    exchange: ProtocolExchange<unknown>,
    timeoutMs = ANSWER_TIMEOUT_MS,
  ): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new StreamsError('BROKER_UNAVAILABLE', `No response from a broker within ${String(timeoutMs)} ms.`));
        cutConnections(broker);
      }, timeoutMs);
    });
    try {
      return await Promise.race([broker.connectionPool.send(exchange), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Looks up the coordinator once, and again after it has moved or could not be reached. */
  async atCoordinator<T>(type: CoordinatorType, key: string, ask: (broker: KafkajsBroker) => Promise<T>): Promise<T> {
    const name = `${type}:${key}`;
    try {
      const nodeId = this.coordinators.get(name) ?? (await this.findCoordinator(type, key));
      this.coordinators.set(name, nodeId);
      return await ask(await this.broker(nodeId));
    } catch (error) {
      const isGone = reactionTo(kafkaErrorCode(error)) === 'coordinator' || isConnectionFailure(error);
      if (isGone) this.coordinators.delete(name);
      throw error;
    }
  }

  /** Picks a different broker at each call, since the first of the list may be offline. */
  async anyBroker(): Promise<KafkajsBroker> {
    await this.connected();
    const nodes = this.cluster.getNodeIds();
    const anyNode = nodes[this.askedNodes++ % nodes.length];
    if (anyNode === undefined)
      throw new StreamsError('BROKER_UNAVAILABLE', 'The metadata of the cluster has no broker.');
    return this.broker(anyNode);
  }

  private async findCoordinator(type: CoordinatorType, key: string): Promise<string> {
    const answer = await this.call<{ coordinator: { nodeId: number } }>(
      await this.anyBroker(),
      'GroupCoordinator',
      2,
      { groupId: key, coordinatorType: COORDINATOR_TYPE[type] },
      COORDINATOR_TIMEOUT_MS,
    );
    return String(answer.coordinator.nodeId);
  }

  async leader(topic: string, partition: number): Promise<KafkajsBroker> {
    const connected = this.connectedLeader(topic, partition);
    if (connected) return connected;
    await this.knownTopic(topic);
    const metadata = this.partitionsOf(topic)[partition];
    if (!metadata || metadata.leader < 0) {
      await this.refreshMetadata();
      throw new StreamsError(
        'BROKER_UNAVAILABLE',
        `Partition ${topic}-${String(partition)} has no leader at the moment.`,
      );
    }
    return this.broker(String(metadata.leader));
  }

  connectedLeader(topic: string, partition: number): KafkajsBroker | null {
    if (this.closed || !this.topics.has(topic)) return null;
    const metadata = this.partitionsOf(topic)[partition];
    const broker = metadata && this.cluster.brokerPool.brokers[metadata.leader];
    return broker && this.brokers.has(broker) && broker.isConnected() ? broker : null;
  }

  /** kafkajs would search all topics and then all partitions at each lookup. */
  private partitionsOf(topic: string): readonly PartitionMetadata[] {
    const { metadata } = this.cluster.brokerPool;
    if (this.indexed !== metadata) this.partitions.clear();
    this.indexed = metadata;
    let partitions = this.partitions.get(topic);
    if (!partitions) {
      partitions = [];
      for (const one of this.cluster.findTopicPartitionMetadata(topic)) partitions[one.partitionId] = one;
      this.partitions.set(topic, partitions);
    }
    return partitions;
  }

  async partitionCount(topic: string): Promise<number | null> {
    try {
      await this.knownTopic(topic);
    } catch (error) {
      if (kafkaErrorCode(error) === UNKNOWN_TOPIC_OR_PARTITION) return null;
      throw error;
    }
    return this.cluster.findTopicPartitionMetadata(topic).length || null;
  }

  replicaCount(topic: string): number {
    return this.cluster.findTopicPartitionMetadata(topic)[0]?.replicas.length ?? 0;
  }

  async refreshMetadata(): Promise<void> {
    await this.connected();
    await this.cluster.refreshMetadata();
  }

  async close(): Promise<void> {
    this.closed = true;
    const disconnected = Promise.resolve(this.connecting)
      .catch(() => undefined)
      .then(() => this.cluster.disconnect());
    // kafkajs waits for every pending response, even from a broker that is gone.
    await Promise.race([disconnected, sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
    for (const socket of this.sockets) socket.destroy(clientClosed());
    // A close must finish: a task rebuild or the stop of an application waits for it.
    await Promise.race([disconnected.catch(() => undefined), sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
  }

  /** During a close, kafkajs may still be connecting to a broker, and would keep that connection. */
  private own(socket: Socket): void {
    if (this.closed) socket.destroy(clientClosed());
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }

  async broker(nodeId: string): Promise<KafkajsBroker> {
    this.refuseWhenClosed();
    const broker = await this.cluster.findBroker({ nodeId });
    this.brokers.add(broker);
    if (this.closed) await broker.disconnect();
    this.refuseWhenClosed();
    return broker;
  }

  /** kafkajs would connect again for a late caller, and no one would close that connection. */
  private refuseWhenClosed(): void {
    if (this.closed) throw clientClosed();
  }

  /** @throws StreamsError TOPIC_MISSING, ACCESS_DENIED; PROTOCOL while the topic is being created */
  async knownTopic(topic: string): Promise<void> {
    await this.connected();
    if (!this.topics.has(topic)) {
      await this.cluster.addMultipleTargetTopics([topic]);
      this.topics.add(topic);
    } else if (this.topicError(topic) !== undefined) await this.refreshMetadata();
    const code = this.topicError(topic);
    if (code !== undefined) throw refusal(`Looking for ${topic}`, code, { code });
  }

  private topicError(topic: string): number | undefined {
    return this.cluster.brokerPool.metadata?.topicErrors.get(topic);
  }

  private async connected(): Promise<void> {
    this.refuseWhenClosed();
    this.connecting ??= this.cluster.connect().then(() => this.cluster.refreshMetadata());
    try {
      await this.connecting;
    } catch (error) {
      this.connecting = null;
      throw loginRefusalOr(error);
    }
  }
}

function clientClosed(): StreamsError {
  return new StreamsError('PROTOCOL', 'This Kafka client is closed.');
}

export interface RetryOptions {
  readonly what: string;
  readonly logger: StreamsLogger;
  readonly stopped?: (() => boolean) | undefined;
  readonly monotonicNow: () => number;
  /** Total time for retries; absent: forever. */
  readonly forMs?: number | undefined;
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/** Whether a retry may help: brokers that move, restart or cannot be reached. */
export function isTransient(error: unknown): boolean {
  return isRepeatable(kafkaErrorCode(error)) || isConnectionFailure(error);
}

/**
 * Repeats `work` while its errors are transient, with growing waits.
 * @throws {StreamsError} BROKER_UNAVAILABLE: no broker could be reached in time
 */
export async function retryTransient<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  let waitMs = RETRY_FIRST_MS;
  const startedAt = options.monotonicNow();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const over = options.forMs !== undefined && options.monotonicNow() - startedAt >= options.forMs;
      if (!isTransient(error) || over || options.stopped?.() === true) {
        const last = parkingOr(error, options.what);
        throw over ? unavailableOr(last, options.what) : last;
      }
      options.onRetry?.(error);
      options.logger.debug('kafka_retry', { what: options.what, waitMs, error: errorMessage(error) });
      await sleep(waitMs);
      waitMs = Math.min(waitMs * 2, RETRY_MAX_MS);
    }
  }
}
