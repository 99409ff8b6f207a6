import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Kafka, logLevel } from 'kafkajs';
import { loadKafkajsInternals } from './kafkajs-internals.js';
import {
  type KafkajsBroker,
  type KafkajsConnection,
  type MetadataResponse,
  patchConnection,
  patchMetadata,
  type ProtocolExchange,
  withoutErrors,
} from './kafkajs-patches.js';
import { leaseOf, ResponseBufferPool } from './response-buffer-pool.js';

const require = createRequire(import.meta.url);

interface StockConnection extends KafkajsConnection {
  authHandlers: unknown;
  socket: { destroy(error: Error): unknown };
}

interface StockCluster {
  readonly connectionPoolBuilder: {
    build(destination: { host: string; port: number }): Promise<KafkajsBroker['connectionPool']>;
  };
  readonly brokerPool: { createBroker(options: object): KafkajsBroker & { disconnect(): Promise<void> } };
}

const stockLogger = {
  namespace: () => stockLogger,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** A connection of kafkajs as it was published; it never opens a socket. */
function stockConnection(): StockConnection {
  const Connection = require('kafkajs/src/network/connection') as new (options: object) => StockConnection;
  const connection = new Connection({ host: 'nowhere', port: 1, logger: stockLogger, requestTimeout: 1_000 });
  connection.socket = { destroy: () => undefined };
  return connection;
}

function patchedConnection(): StockConnection {
  const connection = stockConnection();
  patchConnection(connection, new ResponseBufferPool());
  return connection;
}

interface Received {
  readonly size: number;
  readonly correlationId: number;
  readonly payload: Buffer;
}

function receivedBy(connection: StockConnection): Received[] {
  const received: Received[] = [];
  connection.requestQueue.fulfillRequest = ({ size, correlationId, payload }) => {
    received.push({ size, correlationId, payload: Buffer.from(payload) });
  };
  return received;
}

function errorsOf(connection: StockConnection): Error[] {
  const errors: Error[] = [];
  connection.socket = { destroy: (error) => void errors.push(error) };
  return errors;
}

function framed(response: Uint8Array): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32BE(response.length);
  return Buffer.concat([size, response]);
}

describe('a patched connection', () => {
  it('receives the same responses as a stock connection, however the network cuts them', () => {
    const responses = fc.array(fc.uint8Array({ minLength: 4, maxLength: 300 }), { maxLength: 8 });
    const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(responses, cuts, (sent, sizes) => {
        const [stock, patched] = [stockConnection(), patchedConnection()];
        const [expected, received] = [receivedBy(stock), receivedBy(patched)];
        const stream = Buffer.concat(sent.map(framed));
        for (let at = 0, cut = 0; at < stream.length; cut++) {
          const chunk = stream.subarray(at, (at += sizes[cut % sizes.length] ?? 1));
          stock.processData(chunk);
          patched.processData(chunk);
        }
        expect(received).toHaveLength(sent.length);
        expect(received).toEqual(expected);
      }),
    );
  });

  it('starts over with each socket, where a stock connection continues with half a response', () => {
    const [stock, patched] = [stockConnection(), patchedConnection()];
    const [misread, received] = [receivedBy(stock), receivedBy(patched)];
    for (const connection of [stock, patched]) {
      connection.processData(framed(Buffer.alloc(100)).subarray(0, 40));
      connection.socket = { destroy: () => undefined };
      connection.processData(framed(Buffer.from([0, 0, 0, 7, 1])));
    }
    expect(misread).toEqual([]);
    expect(received).toEqual([{ size: 5, correlationId: 7, payload: Buffer.from([1]) }]);
  });

  it('takes large responses into pooled memory, and small ones into memory of their own', () => {
    const connection = patchedConnection();
    const payloads: Buffer[] = [];
    connection.requestQueue.fulfillRequest = ({ payload }) => void payloads.push(payload);
    for (const size of [300 * 1024, 1_000]) {
      const response = framed(Buffer.alloc(size));
      connection.processData(response.subarray(0, 500));
      connection.processData(response.subarray(500));
    }
    expect(payloads.map((payload) => leaseOf(payload) !== null)).toEqual([true, false]);
  });

  it('recognizes the alert of a port that speaks TLS instead of allocating 350 MB', () => {
    const connection = patchedConnection();
    const errors = errorsOf(connection);
    connection.processData(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]));
    expect(errors.map(String)).toEqual([expect.stringContaining('speaks TLS')]);
  });

  it('is closed when the port is not a broker', () => {
    const connection = patchedConnection();
    const errors = errorsOf(connection);
    connection.processData(Buffer.from('HTTP/1.1 400 Bad Request'));
    expect(errors.map(String)).toEqual([expect.stringContaining('not a Kafka broker')]);
  });

  it('leaves the bytes of an authentication to kafkajs', () => {
    const connection = patchedConnection();
    const authenticated: string[] = [];
    connection.authHandlers = { onSuccess: (data: Buffer) => authenticated.push(data.toString()) };
    connection.processData(Buffer.from('any'));
    expect(authenticated).toEqual(['any']);
  });

  it('shares one attempt to connect between concurrent requests, and tries again later', async () => {
    const connection = stockConnection();
    let attempts = 0;
    const finish: (() => void)[] = [];
    connection.connect = () => {
      attempts++;
      return new Promise<void>((resolve) => finish.push(resolve));
    };
    patchConnection(connection, new ResponseBufferPool());
    const both = [connection.connect(), connection.connect()];
    expect(attempts).toBe(1);
    finish[0]?.();
    await Promise.all(both);
    void connection.connect();
    expect(attempts).toBe(2);
  });

  it('arms the timer of its request queue only while requests are pending', () => {
    const connection = stockConnection();
    const queue = connection.requestQueue as unknown as { pending: unknown[]; scheduleCheckPendingRequests(): void };
    let scheduled = 0;
    queue.scheduleCheckPendingRequests = () => scheduled++;
    patchConnection(connection, new ResponseBufferPool());
    queue.scheduleCheckPendingRequests();
    expect(scheduled).toBe(0);
    queue.pending.push('a request');
    queue.scheduleCheckPendingRequests();
    expect(scheduled).toBe(1);
  });
});

describe('the patches', () => {
  /** What patchConnection() and patchMetadata() replace, as [object, method]. */
  function patchedMethods({ connectionPool, ...broker }: Pick<KafkajsBroker, 'connectionPool'>): boolean[] {
    return [
      Object.hasOwn(broker, 'metadata'),
      ...connectionPool.pool.flatMap((connection) => [
        Object.hasOwn(connection, 'connect'),
        Object.hasOwn(connection, 'processData'),
        Object.hasOwn(connection.requestQueue, 'scheduleCheckPendingRequests'),
      ]),
    ];
  }

  async function brokerOf(cluster: StockCluster): Promise<KafkajsBroker> {
    const connectionPool = await cluster.connectionPoolBuilder.build({ host: 'nowhere', port: 1 });
    return cluster.brokerPool.createBroker({ connectionPool, logger: stockLogger });
  }

  /** The cluster that this very client would use. */
  function clusterOf(kafka: Kafka): StockCluster {
    for (const symbol of Object.getOwnPropertySymbols(kafka)) {
      if (symbol.description !== 'private:Kafka:createCluster') continue;
      return (kafka as unknown as Record<symbol, (options: object) => StockCluster>)[symbol]?.({}) as StockCluster;
    }
    throw new Error('kafkajs has no createCluster any more.');
  }

  it('apply to every broker of our clients, and leave a stock new Kafka() of the same process untouched', async () => {
    const ours = loadKafkajsInternals().createCluster({
      brokers: ['nowhere:1'],
      clientId: 'ours',
      log: () => undefined,
      onSocket: () => undefined,
      buffers: new ResponseBufferPool(),
    });
    const stock = new Kafka({ brokers: ['nowhere:1'], clientId: 'stock', logLevel: logLevel.NOTHING });

    const patched = patchedMethods(await brokerOf(ours as unknown as StockCluster));
    const untouched = patchedMethods(await brokerOf(clusterOf(stock)));

    expect(new Set(patched)).toEqual(new Set([true]));
    expect(new Set(untouched)).toEqual(new Set([false]));
  });

  it('replace no method of a prototype', () => {
    const prototypes = ['network/connection', 'network/requestQueue', 'broker', 'cluster', 'cluster/brokerPool'].map(
      (path) => (require(`kafkajs/src/${path}`) as { prototype: object }).prototype,
    );
    const before = prototypes.map(Object.getOwnPropertyDescriptors);
    loadKafkajsInternals().createCluster({
      brokers: ['nowhere:1'],
      clientId: 'ours',
      log: () => undefined,
      onSocket: () => undefined,
      buffers: new ResponseBufferPool(),
    });
    patchedConnection();
    expect(prototypes.map(Object.getOwnPropertyDescriptors)).toEqual(before);
  });
});

const LEADER_NOT_AVAILABLE = 5;
const REPLICA_NOT_AVAILABLE = 9;
const UNKNOWN_TOPIC = 3;

function metadataOf(topicErrorCode: number, ...partitions: [code: number, leader: number][]): MetadataResponse {
  const partitionMetadata = partitions.map(([partitionErrorCode, leader], partitionId) => ({
    partitionErrorCode,
    partitionId,
    leader,
    replicas: [],
    isr: [],
  }));
  return { brokers: [], topicMetadata: [{ topicErrorCode, topic: 'a topic', partitionMetadata }] };
}

/** A broker whose connection responds with what is already decoded. */
function brokerWith(response: MetadataResponse) {
  const destroyed: string[] = [];
  const broker = {
    connectionPool: {
      send: async (exchange: ProtocolExchange<unknown>) => exchange.response.parse(response),
      pool: [{ socket: { destroy: (error: Error) => void destroyed.push(error.message) } }],
    },
    metadata: (_topics?: readonly string[]): Promise<unknown> =>
      Promise.reject(new Error('the stock method was called')),
  };
  const { request } = loadKafkajsInternals();
  patchMetadata(broker as unknown as KafkajsBroker, (topics) =>
    request<MetadataResponse>('Metadata', 6, { topics, allowAutoTopicCreation: false }),
  );
  return { broker, destroyed };
}

describe('patched metadata', () => {
  it('reports one partition without a leader instead of failing for all', async () => {
    const { broker } = brokerWith(metadataOf(0, [0, 2], [LEADER_NOT_AVAILABLE, -1], [REPLICA_NOT_AVAILABLE, 3]));
    const { topicMetadata } = (await broker.metadata(['a topic'])) as MetadataResponse;
    expect(topicMetadata[0]?.partitionMetadata.map(({ leader }) => leader)).toEqual([2, -1, 3]);
  });

  it('has no leader for a partition with any other error', () => {
    const { topicMetadata } = withoutErrors(metadataOf(0, [72, 2]));
    expect(topicMetadata[0]?.partitionMetadata[0]).toMatchObject({ partitionErrorCode: 0, leader: -1 });
  });

  it('names a topic that does not exist instead of failing for all', async () => {
    const found = metadataOf(0, [0, 2]);
    const topicMetadata = [...metadataOf(UNKNOWN_TOPIC).topicMetadata, ...found.topicMetadata];
    const { broker } = brokerWith({ ...found, topicMetadata });
    const topicErrors = new Map([['a topic', UNKNOWN_TOPIC]]);
    expect(await broker.metadata(['nowhere', 'a topic'])).toEqual({ ...found, topicErrors });
  });

  it('cuts the connections of a broker that does not respond', async () => {
    const { broker, destroyed } = brokerWith(metadataOf(0));
    broker.connectionPool.send = () =>
      Promise.reject(Object.assign(new Error('late'), { name: 'KafkaJSRequestTimeoutError' }));
    await expect(broker.metadata([])).rejects.toThrow('late');
    expect(destroyed).toEqual(['the connection is given up']);
  });
});
