import { StreamsError, type StreamsBackend, type TaskContext } from '@waypost/streams';
import type { CommitPoint } from './partition-queues.js';

/** Where the sender of a partition goes on: its committed offset, whose metadata is the position to fold attempts from. */
export const senderPosition = async (backend: StreamsBackend, context: TaskContext): Promise<CommitPoint> => {
  const { topic, partition } = context;
  const committed = await context.committedOffset();
  if (committed) return { offset: committed.offset, foldFrom: foldPosition(committed.metadata) };
  return { offset: await backend.startOffset({ topic, partition }), foldFrom: 0 };
};

const foldPosition = (metadata: string): number => {
  if (/^\d+$/.test(metadata)) return Number(metadata);
  throw new StreamsError(
    'CORRUPT_STATE',
    `The committed offset of the sender carries no fold position: "${metadata}".`,
  );
};
