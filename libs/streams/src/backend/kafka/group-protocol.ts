import { StreamsError } from '../../errors.js';
import { ByteReader, byTopic, int32, string } from '../../protocol/bytes.js';
import type { TopicPartition } from '../../record.js';
import {
  assignPartitions,
  type CooperativeClaim,
  type MemberAssignment,
  type RevokingPartition,
} from '../cooperative-assignor.js';

/** The consumer protocol's subscription and assignment, in the form that every Kafka client reads. */

type MemberSubscription = Omit<CooperativeClaim, 'memberId'>;

const VERSION = Buffer.from([0, 0]);

function bytes(value: Buffer): Buffer {
  return Buffer.concat([int32(value.length), value]);
}

function array<T>(items: readonly T[], encode: (item: T) => readonly Buffer[]): Buffer {
  return Buffer.concat([int32(items.length), ...items.flatMap(encode)]);
}

function encodePartitions(partitions: readonly TopicPartition[]): Buffer {
  return array([...byTopic(partitions)], ([topic, list]) => [
    string(topic),
    array(list, ({ partition }) => [int32(partition)]),
  ]);
}

function decodePartitions(reader: ByteReader): TopicPartition[] {
  return reader.partitions((topic) => ({ topic, partition: reader.int32() }));
}

function encodeRevoking(partitions: readonly RevokingPartition[]): Buffer {
  return array(partitions, ({ topic, partition, generation }) => [string(topic), int32(partition), int32(generation)]);
}

function decodeRevoking(reader: ByteReader): RevokingPartition[] {
  return reader.array(() => ({ topic: reader.string() ?? '', partition: reader.int32(), generation: reader.int32() }));
}

/** The user data has the owned and revoked partitions. */
export function encodeSubscription({ topics, owned, generation, revoking }: MemberSubscription): Buffer {
  const userData = Buffer.concat([int32(generation), encodePartitions(owned), encodeRevoking(revoking)]);
  return Buffer.concat([VERSION, array(topics, (topic) => [string(topic)]), bytes(userData)]);
}

export function decodeSubscription(buffer: Buffer): MemberSubscription {
  const reader = new ByteReader(buffer);
  reader.int16();
  const topics = reader.array(() => reader.string() ?? '');
  const userData = reader.remaining >= 4 ? reader.bytes() : null;
  if (!userData || userData.length < 12) return { topics, owned: [], generation: -1, revoking: [] };
  const held = new ByteReader(userData);
  return { topics, generation: held.int32(), owned: decodePartitions(held), revoking: decodeRevoking(held) };
}

/** The user data has the awaited revocations; the coordinator keeps it for a static member that restarts. */
export function encodeAssignment({ partitions, awaited }: MemberAssignment): Buffer {
  return Buffer.concat([VERSION, encodePartitions(partitions), bytes(encodePartitions(awaited))]);
}

export function decodeAssignment(buffer: Buffer): MemberAssignment {
  if (buffer.length < 6) return { partitions: [], awaited: [] };
  const reader = new ByteReader(buffer);
  reader.int16();
  const partitions = decodePartitions(reader);
  const userData = reader.remaining >= 4 ? reader.bytes() : null;
  return { partitions, awaited: userData && userData.length >= 4 ? decodePartitions(new ByteReader(userData)) : [] };
}

export interface JoinedMember {
  readonly memberId: string;
  readonly memberMetadata: Buffer;
}

/**
 * The assignment that the leader of a group sends: every partition of every subscribed topic, except those that their
 * previous owner has not released yet.
 * @param lead the topic whose partitions decide for the others; absent: each partition goes where there is room
 */
export async function assignToMembers(
  members: readonly JoinedMember[],
  partitionCount: (topic: string) => Promise<number | null>,
  lead?: string,
): Promise<{ memberId: string; memberAssignment: Buffer }[]> {
  const claims = members.map(({ memberId, memberMetadata }) => ({ memberId, ...decodeSubscription(memberMetadata) }));
  const partitions: TopicPartition[] = [];
  for (const topic of new Set(claims.flatMap((claim) => claim.topics))) {
    const count = await partitionCount(topic);
    // A broker that has just started may deny that a topic exists. An empty assignment would leave every member idle.
    if (count === null) throw new StreamsError('TOPIC_MISSING', `The topic ${topic} is not known at the moment.`);
    for (let partition = 0; partition < count; partition++) partitions.push({ topic, partition });
  }
  return [...assignPartitions(partitions, claims, lead)].map(([memberId, share]) => ({
    memberId,
    memberAssignment: encodeAssignment(share),
  }));
}
