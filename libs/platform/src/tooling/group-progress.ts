import type { KafkaSettings } from '@waypost/streams';
import { openAdmin } from '@waypost/streams/admin';

type Admin = Awaited<ReturnType<typeof openAdmin>>;

/** How far one group is on one partition, in log positions (transaction markers count). */
export interface PartitionProgress {
  readonly groupId: string;
  readonly topic: string;
  readonly partition: number;
  readonly startOffset: number;
  readonly endOffset: number;
  /** null: the group has committed nothing here. */
  readonly committedOffset: number | null;
}

/** A consumer group, and the topics whose progress is read. */
export interface GroupTopics {
  readonly id: string;
  readonly topics: readonly string[];
}

export interface GroupProgressReader {
  /** Rejects while a coordinator moves or a broker is down; retrying is safe. */
  read(groups: readonly GroupTopics[]): Promise<PartitionProgress[]>;
  close(): Promise<void>;
}

export async function openGroupProgress(settings: KafkaSettings): Promise<GroupProgressReader> {
  const admin = await openAdmin(settings);
  return {
    async read(groups) {
      const ofGroups = await Promise.all(groups.map((group) => progressOf(admin, group)));
      return ofGroups.flat();
    },
    close: () => admin.disconnect(),
  };
}

/** The ends are read before the commits: a commit before such an end is real lag, never a race. */
async function progressOf(admin: Admin, group: GroupTopics): Promise<PartitionProgress[]> {
  const ends = await Promise.all(
    group.topics.map(async (topic) => [topic, await admin.fetchTopicOffsets(topic)] as const),
  );
  const committed = await committedOffsets(admin, group);
  return ends.flatMap(([topic, partitions]) =>
    partitions.map(({ partition, low, high }) => ({
      groupId: group.id,
      topic,
      partition,
      startOffset: Number(low),
      endOffset: Number(high),
      committedOffset: committed.get(`${topic}-${String(partition)}`) ?? null,
    })),
  );
}

async function committedOffsets(admin: Admin, group: GroupTopics): Promise<Map<string, number>> {
  const answer = await admin.fetchOffsets({ groupId: group.id, topics: [...group.topics] });
  const found = new Map<string, number>();
  for (const { topic, partitions } of answer) {
    for (const { partition, offset } of partitions) {
      if (Number(offset) >= 0) found.set(`${topic}-${String(partition)}`, Number(offset));
    }
  }
  return found;
}
