import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { ByteReader } from '../../../protocol/bytes.js';
import { NO_TAGS, readString, skipTags } from '../../../protocol/tagged-fields.js';
import { TOPIC_ID_METADATA_VERSION } from '../../../protocol/topic-id.js';

export interface FakeRequest {
  readonly api: string;
  /** The node that is asked. */
  readonly node: number;
  /** The transactional id, the group, or `topic-partition`. */
  readonly key: string;
  /** The part of AddPartitionsToTxn that the code is for: `topic-partition`. */
  readonly partition?: string;
  /** In which epoch OffsetForLeaderEpoch takes the node for the leader; -1: whichever. */
  readonly present?: number;
}

interface FakeClusterOptions {
  /** The error code of the answer; it is asked once for each key of each request. */
  readonly answer: (request: FakeRequest) => number;
  readonly nodes?: number;
  readonly partitions?: () => number;
  readonly leader?: () => number;
  /** The records of a partition at offset 0. */
  readonly batch: Buffer;
}

export interface FakeCluster {
  readonly brokers: readonly string[];
  openConnections(): number;
  /** Ends all connections; new ones are accepted. */
  hangUp(): void;
  close(): Promise<void>;
}

/** A cluster that speaks what our clients ask, and answers each request with the error code that the test wants. */
export async function startFakeCluster(options: FakeClusterOptions): Promise<FakeCluster> {
  const sockets = new Set<Socket>();
  const ports: number[] = [];
  const servers: Server[] = [];
  for (let node = 1; node <= (options.nodes ?? 1); node++) {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => sockets.delete(socket));
      serve(socket, (request) => respond(request, node, options, ports));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ports.push((server.address() as AddressInfo).port);
    servers.push(server);
  }
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    brokers: ports.map((port) => `127.0.0.1:${String(port)}`),
    openConnections: () => sockets.size,
    hangUp,
    close: async () => {
      hangUp();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** The body of the answer. */
type Respond = (request: Buffer) => Body;

function serve(socket: Socket, respondTo: Respond): void {
  let received = Buffer.alloc(0);
  let order = Promise.resolve();
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
      const request = Buffer.from(received.subarray(4, 4 + received.readInt32BE(0)));
      received = received.subarray(4 + request.length);
      order = order.then(async () => {
        const body = await respondTo(request);
        socket.write(Buffer.concat([int32(4 + body.length), request.subarray(4, 8), body]));
      });
    }
  });
}

const APIS: Readonly<Record<number, string>> = {
  0: 'Produce',
  1: 'Fetch',
  2: 'ListOffsets',
  3: 'Metadata',
  8: 'OffsetCommit',
  9: 'OffsetFetch',
  10: 'FindCoordinator',
  11: 'JoinGroup',
  12: 'Heartbeat',
  13: 'LeaveGroup',
  14: 'SyncGroup',
  17: 'SaslHandshake',
  18: 'ApiVersions',
  22: 'InitProducerId',
  23: 'OffsetForLeaderEpoch',
  24: 'AddPartitionsToTxn',
  25: 'AddOffsetsToTxn',
  26: 'EndTxn',
  28: 'TxnOffsetCommit',
};

function respond(request: Buffer, node: number, options: FakeClusterOptions, ports: readonly number[]): Body {
  const reader = new ByteReader(request);
  const api = APIS[reader.int16()] ?? '';
  const isForTopicId = api === 'Metadata' && reader.int16() === TOPIC_ID_METADATA_VERSION;
  reader.position = 8;
  reader.string(); // client id
  const answer: Answer = (key, partition) => options.answer({ api, node, key, ...(partition && { partition }) });
  const perPartition = (item: (code: number) => Buffer[]): Buffer =>
    partitionAnswers(reader, api, (name) => item(answer(name)));
  switch (api) {
    case 'ApiVersions': {
      const keys = Object.keys(APIS).map((key) => [int16(Number(key)), int16(0), int16(15)]);
      return Buffer.concat([int16(0), ...array(keys), int32(0)]);
    }
    case 'SaslHandshake': // It offers no mechanism.
      return Buffer.concat([int16(0), int32(0)]);
    case 'Metadata':
      return isForTopicId ? TOPIC_ID_ANSWER : metadata(reader, options, ports, answer);
    case 'Produce':
      reader.string();
      reader.position += 6;
      return Buffer.concat([perPartition((code) => [int16(code), int64(0), int64(-1), int64(0)]), int32(0)]);
    case 'Fetch':
      return fetchAnswer(reader, answer, options.batch);
    case 'ListOffsets':
      reader.position += 5;
      return Buffer.concat([int32(0), perPartition((code) => [int16(code), int64(-1), int64(7)])]);
    case 'OffsetFetch':
      skipTags(reader);
      return committedOffset(answer(readString(reader)));
    case 'OffsetForLeaderEpoch':
      return epochEnd(reader, (key, present) => options.answer({ api, node, key, present }), node);
    default:
      return coordinatorAnswer(api, reader, answer, ports[0] ?? 0);
  }
}

export const FAKE_TOPIC_ID = Buffer.alloc(16, 7);

/** No tags, no brokers, no name of the cluster; one topic without a name. Compact lengths are one more than they say. */
const TOPIC_ID_ANSWER = Buffer.concat([
  Buffer.from([0]),
  int32(0),
  Buffer.from([1, 0]),
  int32(1),
  Buffer.from([2]),
  int16(0),
  Buffer.from([0]),
  FAKE_TOPIC_ID,
]);

/** No tags; offset 5, without metadata, in one partition of a topic without a name. */
function committedOffset(code: number): Buffer {
  const partition = [int32(0), int64(5), int32(0), Buffer.from([1]), int16(0), NO_TAGS];
  const topics = [Buffer.from([2, 1, 2]), ...partition, NO_TAGS];
  return Buffer.concat([NO_TAGS, int32(0), ...topics, int16(code), NO_TAGS]);
}

type Body = Buffer | Promise<Buffer>;
type Answer = (key: string, partition?: string) => number;

async function fetchAnswer(reader: ByteReader, answer: Answer, batch: Buffer): Promise<Buffer> {
  reader.position += 25;
  const found: number[] = [];
  const body = partitionAnswers(reader, 'Fetch', (name, offset) => {
    const code = answer(name);
    const data = code === 0 && offset === 0 ? batch : Buffer.alloc(0);
    if (code !== 0 || data.length > 0) found.push(code);
    return [int16(code), int64(1), int64(1), int64(0), int32(0), int32(-1), int32(data.length), data];
  });
  if (found.length === 0) await new Promise((resolve) => setTimeout(resolve, 50).unref());
  return Buffer.concat([int32(0), int16(0), int32(0), body]);
}

/** All epochs end at the number of the node: logs differ. */
function epochEnd(reader: ByteReader, answer: (key: string, present: number) => number, node: number): Buffer {
  const topics = reader.array((r) => {
    const topic = r.string() ?? '';
    const partitions = r.array(() => {
      const partition = r.int32();
      const code = answer(`${topic}-${String(partition)}`, r.int32());
      r.int32(); // the epoch
      return [int16(code), int32(partition), int32(0), int64(code === 0 ? node : -1)];
    });
    return [string(topic), ...array(partitions)];
  });
  return Buffer.concat([int32(0), ...array(topics)]);
}

function metadata(reader: ByteReader, options: FakeClusterOptions, ports: readonly number[], answer: Answer): Buffer {
  const { partitions = () => 1, leader = () => 1 } = options;
  const topics = reader.int32() < 0 ? [] : ((reader.position -= 4), reader.array((r) => r.string() ?? ''));
  const brokers = ports.map((port, i) => [int32(i + 1), string('127.0.0.1'), int32(port), string(null)]);
  const listed = Array.from({ length: partitions() }, (_, p) => [int16(0), int32(p), int32(leader()), ...ALONE]);
  const found = topics.map((topic) => [int16(answer(topic)), string(topic), Buffer.from([0]), ...array(listed)]);
  return Buffer.concat([int32(0), ...array(brokers), string('fake'), int32(1), ...array(found)]);
}

/** Replicas, those in sync, those offline. */
const ALONE = [int32(1), int32(1), int32(1), int32(1), int32(0)];

function coordinatorAnswer(api: string, reader: ByteReader, answer: Answer, port: number): Buffer {
  const key = reader.string() ?? '';
  const error = (code: number): Buffer => Buffer.concat([int32(0), int16(code)]);
  switch (api) {
    case 'FindCoordinator':
      return Buffer.concat([error(answer(key)), string(null), int32(1), string('127.0.0.1'), int32(port)]);
    case 'InitProducerId':
      return Buffer.concat([error(answer(key)), int64(1), int16(0)]);
    case 'AddPartitionsToTxn':
      reader.position += 10;
      return Buffer.concat([int32(0), partitionAnswers(reader, api, (name) => [int16(answer(key, name))])]);
    case 'TxnOffsetCommit':
      reader.string();
      reader.position += 10;
      return Buffer.concat([int32(0), partitionAnswers(reader, api, () => [int16(answer(key))])]);
    case 'OffsetCommit':
      reader.position += 4;
      reader.string();
      return Buffer.concat([int32(0), partitionAnswers(reader, api, () => [int16(answer(key))])]);
    case 'JoinGroup':
      return joined(reader, error(answer(key)));
    case 'SyncGroup':
      return synced(reader, error(answer(key)));
    case 'LeaveGroup':
      return Buffer.concat([error(answer(key)), int32(0)]);
    default:
      return error(answer(key));
  }
}

/** A group with this member alone, as its leader. */
function joined(reader: ByteReader, error: Buffer): Buffer {
  reader.position += 8;
  for (let i = 0; i < 3; i++) reader.string(); // member id, instance id, protocol type
  const [protocol] = reader.array((r) => [r.string(), r.bytes()] as const);
  const subscription = protocol?.[1] ?? Buffer.alloc(0);
  const member = [string('m'), string(null), int32(subscription.length), subscription];
  return Buffer.concat([error, int32(1), string('waypost-sticky'), string('m'), string('m'), ...array([member])]);
}

function synced(reader: ByteReader, error: Buffer): Buffer {
  reader.position += 4;
  reader.string();
  reader.string();
  const [own] = reader.array((r) => [r.string(), r.bytes()] as const);
  const assignment = own?.[1] ?? Buffer.alloc(0);
  return Buffer.concat([error, int32(assignment.length), assignment]);
}

function partitionAnswers(reader: ByteReader, api: string, item: (name: string, offset: number) => Buffer[]): Buffer {
  const topics = reader.array((r) => {
    const topic = r.string() ?? '';
    const partitions = r.array(() => {
      const partition = r.int32();
      const offset = skipPartition(r, api);
      return [int32(partition), ...item(`${topic}-${String(partition)}`, offset)];
    });
    return [string(topic), ...array(partitions)];
  });
  return Buffer.concat(array(topics));
}

/** What a request says of a partition, beside its number. @returns the offset of a fetch */
function skipPartition(reader: ByteReader, api: string): number {
  if (api === 'Produce') reader.bytes();
  if (api === 'ListOffsets') reader.int64();
  if (api === 'OffsetCommit' || api === 'TxnOffsetCommit') {
    reader.int64();
    reader.string();
  }
  if (api !== 'Fetch') return 0;
  reader.int32();
  const offset = reader.int64();
  reader.position += 12;
  return offset;
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function int64(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(BigInt(value));
  return buffer;
}

function string(value: string | null): Buffer {
  if (value === null) return int16(-1);
  return Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
}

function array(items: readonly (readonly Buffer[])[]): Buffer[] {
  return [int32(items.length), ...items.flat()];
}
