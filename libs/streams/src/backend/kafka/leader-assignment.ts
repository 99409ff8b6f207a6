import { StreamsError } from '../../errors.js';
import type { TopicPartition } from '../../record.js';
import { assignCooperatively } from '../cooperative-assignor.js';
import { decodeSubscription, encodeAssignment } from './member-metadata.js';

export interface JoinedMember {
  readonly memberId: string;
  readonly memberMetadata: Buffer;
}

/** What the leader of a group answers: every partition of every subscribed topic, or nobody's yet while its holder lets go of it. */
export const assignToMembers = async (
  members: readonly JoinedMember[],
  partitionCount: (topic: string) => Promise<number | null>,
): Promise<{ memberId: string; memberAssignment: Buffer }[]> => {
  const claims = members.map(({ memberId, memberMetadata }) => ({ memberId, ...decodeSubscription(memberMetadata) }));
  const partitions: TopicPartition[] = [];
  for (const topic of new Set(claims.flatMap((claim) => claim.topics))) {
    const count = await partitionCount(topic);
    // A broker that has just started may deny a topic. To assign nothing then would leave everybody idle for good.
    if (count === null) throw new StreamsError('TOPIC_MISSING', `The topic ${topic} is not known at the moment.`);
    for (let partition = 0; partition < count; partition++) partitions.push({ topic, partition });
  }
  return [...assignCooperatively(partitions, claims)].map(([memberId, share]) => ({
    memberId,
    memberAssignment: encodeAssignment(share),
  }));
};
