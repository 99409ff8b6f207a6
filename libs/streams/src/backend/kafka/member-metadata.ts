import { ByteReader } from '../../protocol/bytes.js';
import type { TopicPartition } from '../../record.js';
import type { RevokingPartition, MemberAssignment } from '../cooperative-assignor.js';

/** The consumer protocol's subscription and assignment, in the form that every Kafka client reads. */

export interface MemberSubscription {
  readonly topics: readonly string[];
  readonly owned: readonly TopicPartition[];
  readonly generation: number;
  readonly revoking: readonly RevokingPartition[];
}

const VERSION = 0;

const int32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
};

const string = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

const bytes = (value: Buffer): Buffer => Buffer.concat([int32(value.length), value]);
const version = (): Buffer => Buffer.from([0, VERSION]);

const encodePartitions = (partitions: readonly TopicPartition[]): Buffer => {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of partitions) topics.set(topic, [...(topics.get(topic) ?? []), partition]);
  const parts = [int32(topics.size)];
  for (const [topic, list] of topics) parts.push(string(topic), int32(list.length), ...list.map(int32));
  return Buffer.concat(parts);
};

const decodePartitions = (reader: ByteReader): TopicPartition[] =>
  reader
    .array(() => {
      const topic = reader.string() ?? '';
      return reader.array(() => ({ topic, partition: reader.int32() }));
    })
    .flat();

const encodeLettingGo = (partitions: readonly RevokingPartition[]): Buffer =>
  Buffer.concat([
    int32(partitions.length),
    ...partitions.flatMap(({ topic, partition, generation }) => [string(topic), int32(partition), int32(generation)]),
  ]);

const decodeLettingGo = (reader: ByteReader): RevokingPartition[] =>
  reader.array(() => ({ topic: reader.string() ?? '', partition: reader.int32(), generation: reader.int32() }));

/** What the member works on travels in the user data. */
export const encodeSubscription = ({ topics, owned, generation, revoking }: MemberSubscription): Buffer => {
  const userData = Buffer.concat([int32(generation), encodePartitions(owned), encodeLettingGo(revoking)]);
  return Buffer.concat([version(), int32(topics.length), ...topics.map(string), bytes(userData)]);
};

export const decodeSubscription = (buffer: Buffer): MemberSubscription => {
  const reader = new ByteReader(buffer);
  reader.int16();
  const topics = reader.array(() => reader.string() ?? '');
  const userData = reader.remaining >= 4 ? reader.bytes() : null;
  if (!userData || userData.length < 12) return { topics, owned: [], generation: -1, revoking: [] };
  const held = new ByteReader(userData);
  return {
    topics,
    generation: held.int32(),
    owned: decodePartitions(held),
    revoking: decodeLettingGo(held),
  };
};

/** What the group waits for travels in the user data, which the coordinator keeps for a successor of the same name. */
export const encodeAssignment = ({ partitions, awaited }: MemberAssignment): Buffer =>
  Buffer.concat([version(), encodePartitions(partitions), bytes(encodePartitions(awaited))]);

export const decodeAssignment = (buffer: Buffer): MemberAssignment => {
  if (buffer.length < 6) return { partitions: [], awaited: [] };
  const reader = new ByteReader(buffer);
  reader.int16();
  const partitions = decodePartitions(reader);
  const userData = reader.remaining >= 4 ? reader.bytes() : null;
  return { partitions, awaited: userData && userData.length >= 4 ? decodePartitions(new ByteReader(userData)) : [] };
};
