import { toError } from '../../../errors.js';
import type { ResponseBufferPool } from './response-buffer-pool.js';

/**
 * Changes kafkajs 2.2.4 objects that our own clients create. No prototype is touched: other users of kafkajs in the
 * process get it as published. kafkajs-internals.ts asserts the version before anything is patched.
 */

export interface ProtocolExchange<T> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<unknown>;
  };
  readonly response: { decode(raw: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<T> };
  readonly requestTimeout?: number | null;
}

export interface KafkajsConnection {
  /** Set while kafkajs authenticates: it then reads the bytes itself. */
  readonly authHandlers: unknown;
  readonly socket?: { destroy(error: Error): unknown } | null;
  readonly requestQueue: {
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
    fulfillRequest(response: { size: number; correlationId: number; payload: Buffer }): void;
  };
  connect(): Promise<unknown>;
  processData(chunk: Buffer): void;
}

export interface KafkajsBroker {
  readonly nodeId: number | null;
  /** The API versions of the broker by API key; null before it is connected. */
  readonly versions: Readonly<Record<number, { readonly maxVersion: number } | undefined>> | null;
  disconnect(): Promise<void>;
  isConnected(): boolean;
  metadata(topics?: readonly string[]): Promise<unknown>;
  readonly connectionPool: {
    send(exchange: ProtocolExchange<unknown>): Promise<unknown>;
    readonly pool: readonly KafkajsConnection[];
  };
}

/** Call before the connection is used. */
export function patchConnection(connection: KafkajsConnection, buffers: ResponseBufferPool): void {
  shareConnect(connection);
  disarmIdleTimer(connection.requestQueue);
  assembleResponses(connection, buffers);
}

/**
 * Each request that finds its connection closed reopens it. kafkajs would create a socket for each, use the last one
 * and leave the others open; here they share one attempt.
 */
function shareConnect(connection: KafkajsConnection): void {
  const connect = connection.connect.bind(connection);
  let attempt: Promise<unknown> | null = null;
  connection.connect = () => {
    attempt ??= connect().finally(() => {
      attempt = null;
    });
    return attempt;
  };
}

/** kafkajs re-arms a short timer on every connection forever; only a queue with requests needs it. */
function disarmIdleTimer(queue: KafkajsConnection['requestQueue']): void {
  const schedule = queue.scheduleCheckPendingRequests.bind(queue);
  queue.scheduleCheckPendingRequests = () => {
    if (queue.pending.length > 0) schedule();
  };
}

/**
 * kafkajs keeps the chunks of a response and copies them together at the end, and after a reconnect it would continue
 * with half a response of the old socket. Here each response is assembled as it arrives, in a buffer of its size.
 */
function assembleResponses(connection: KafkajsConnection, buffers: ResponseBufferPool): void {
  const processData = connection.processData.bind(connection);
  const assemblies = new WeakMap<object, ResponseAssembly>();
  const deliver = (response: Buffer): void => {
    connection.requestQueue.fulfillRequest({
      size: response.length,
      correlationId: response.readInt32BE(0),
      payload: response.subarray(SIZE_BYTES),
    });
  };
  connection.processData = (chunk) => {
    const { authHandlers, socket } = connection;
    if (authHandlers || !socket) {
      processData(chunk);
      return;
    }
    let assembly = assemblies.get(socket);
    if (!assembly) assemblies.set(socket, (assembly = new ResponseAssembly(buffers)));
    try {
      assembly.take(chunk, deliver);
    } catch (error) {
      socket.destroy(toError(error));
    }
  };
}

/** The error if the first bytes of a response are a TLS alert; read as a size they would mean 350 MB. */
export const SPEAKS_TLS = 'The port speaks TLS.';
const TLS_ALERT = 21;
const TLS_MAJOR = 3;
const SIZE_BYTES = 4;
/** Far above any response to our requests; a port that is not Kafka's may send anything. */
const MAX_RESPONSE_BYTES = 512 * 1024 * 1024;

/** Splits the responses of one socket: four bytes of size, then as many bytes. */
class ResponseAssembly {
  private readonly size = Buffer.alloc(SIZE_BYTES);
  private sizeFilled = 0;
  private response: Buffer | null = null;
  private filled = 0;

  constructor(private readonly buffers: ResponseBufferPool) {}

  take(chunk: Buffer, deliver: (response: Buffer) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.response) {
        at += this.fill(this.response, chunk, at, deliver);
        continue;
      }
      const copied = chunk.copy(this.size, this.sizeFilled, at);
      this.sizeFilled += copied;
      at += copied;
      if (this.sizeFilled < SIZE_BYTES) return;
      this.sizeFilled = 0;
      if (this.size[0] === TLS_ALERT && this.size[1] === TLS_MAJOR) throw new RangeError(SPEAKS_TLS);
      const size = this.size.readInt32BE(0);
      if (size < SIZE_BYTES || size > MAX_RESPONSE_BYTES)
        throw new RangeError(`The port is not a Kafka broker: a response of ${String(size)} bytes makes no sense.`);
      // Most responses are complete in one chunk and need no copy.
      if (chunk.length - at >= size) deliver(chunk.subarray(at, (at += size)));
      else this.response = this.buffers.take(size);
    }
  }

  private fill(response: Buffer, chunk: Buffer, at: number, deliver: (response: Buffer) => void): number {
    const copied = chunk.copy(response, this.filled, at);
    this.filled += copied;
    if (this.filled === response.length) {
      this.response = null;
      this.filled = 0;
      deliver(response);
    }
    return copied;
  }
}

export interface PartitionMetadata {
  readonly partitionErrorCode: number;
  readonly partitionId: number;
  readonly leader: number;
  /** Ids of brokers, including those that are away. */
  readonly replicas: readonly number[];
  readonly isr: readonly number[];
}

export interface MetadataResponse {
  readonly brokers: readonly { readonly nodeId: number }[];
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly topic: string;
    readonly partitionMetadata: PartitionMetadata[];
  }[];
}

export interface ToleratedMetadata {
  /** Why topics are missing from `topics`, by name. */
  readonly topicErrors: ReadonlyMap<string, number>;
}

const METADATA_TIMEOUT_MS = 5_000;
const NO_LEADER = -1;
/** A replica is offline, but the leader is not. */
const REPLICA_NOT_AVAILABLE = 9;

/**
 * Makes the broker tolerate topic and partition errors in metadata, and cut its connections if it does not respond
 * within seconds, so that the next attempt asks another broker.
 */
export function patchMetadata(
  broker: KafkajsBroker,
  request: (topics: readonly string[]) => ProtocolExchange<MetadataResponse>,
): void {
  broker.metadata = async (topics = []) => {
    const exchange = request(topics);
    try {
      return await broker.connectionPool.send({
        ...exchange,
        requestTimeout: METADATA_TIMEOUT_MS,
        response: {
          decode: (raw) => exchange.response.decode(raw),
          parse: (decoded) => exchange.response.parse(withoutErrors(decoded as MetadataResponse)),
        },
      });
    } catch (error) {
      const { name } = error as { name?: string };
      if (name === 'KafkaJSConnectionClosedError' || name === 'KafkaJSRequestTimeoutError') cutConnections(broker);
      throw error;
    }
  };
}

/**
 * Removes topics with errors from the response, and replaces partition errors by "no leader". kafkajs rejects the whole
 * request for one of them, so a deleted topic or an offline partition would hide all others.
 */
export function withoutErrors(response: MetadataResponse): MetadataResponse & ToleratedMetadata {
  const { topicMetadata: all } = response;
  const failed = all.filter(({ topicErrorCode }) => topicErrorCode !== 0);
  return {
    ...response,
    topicErrors: new Map(failed.map(({ topic, topicErrorCode }) => [topic, topicErrorCode])),
    topicMetadata: all.flatMap((topic) => (topic.topicErrorCode === 0 ? withoutPartitionErrors(topic) : [])),
  };
}

type TopicMetadata = MetadataResponse['topicMetadata'][number];

function withoutPartitionErrors(topic: TopicMetadata): TopicMetadata {
  const partitionMetadata = topic.partitionMetadata.map((partition) => {
    const { partitionErrorCode: code, leader } = partition;
    const hasLeader = code === 0 || code === REPLICA_NOT_AVAILABLE;
    return { ...partition, partitionErrorCode: 0, leader: hasLeader ? leader : NO_LEADER };
  });
  return { ...topic, partitionMetadata };
}

/** Cuts silent connections: kafkajs would keep using them for many minutes, until the kernel gives up. */
export function cutConnections(broker: KafkajsBroker): void {
  for (const { socket } of broker.connectionPool.pool) socket?.destroy(new Error('the connection is given up'));
}

interface EndingSocket {
  end(...args: unknown[]): unknown;
  removeAllListeners(event: string): unknown;
  resume(): unknown;
}

/** kafkajs still listens to a socket that it has ended: late bytes must not reach the next connection. */
export function silenceEndedSockets<Options, S extends EndingSocket>(
  socketFactory: (options: Options) => S,
  onSocket: (socket: S) => void,
): (options: Options) => S {
  return (options) => {
    const socket = socketFactory(options);
    onSocket(socket);
    const end = socket.end.bind(socket);
    socket.end = (...args: unknown[]) => {
      socket.removeAllListeners('data');
      socket.resume();
      return end(...args);
    };
    return socket;
  };
}
