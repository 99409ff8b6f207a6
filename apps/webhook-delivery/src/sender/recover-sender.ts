import type { AvroCodecs, SubscriptionState } from '@waypost/contracts';
import type { DeliveryProgress } from '@waypost/domain';
import type { StreamsBackend, StreamsLogger, TaskContext } from '@waypost/streams';
import type { BegunDeliveries, CommitPoint } from './partition-queues.js';
import { recoverProgress } from './recover-progress.js';
import { recoverStates } from './recover-states.js';
import { senderPosition } from './sender-position.js';

/** All that predecessors left behind for a partition. */
export interface RecoveredSender {
  readonly start: CommitPoint;
  readonly states: ReadonlyMap<string, SubscriptionState>;
  /** By the delivery's offset; an entry may be removed when its delivery was taken in. */
  readonly byDelivery: Map<number, DeliveryProgress>;
  readonly begun: BegunDeliveries;
  readonly begunBySubscription: ReadonlyMap<string, BegunDeliveries>;
  readonly attemptsEnd: number;
}

export interface SenderRecoveryParts {
  readonly backend: StreamsBackend;
  readonly codecs: AvroCodecs;
  readonly logger: StreamsLogger;
}

export const recoverSender = async (parts: SenderRecoveryParts, context: TaskContext): Promise<RecoveredSender> => {
  const { partition } = context;
  const start = await senderPosition(parts.backend, context);
  const fetcher = parts.backend.fetcher();
  try {
    const states = await recoverStates(parts, fetcher, partition);
    const progress = await recoverProgress(parts, fetcher, partition, { start, states });
    const { byDelivery, begunUpTo, lastDelivery: upTo, attemptsEnd } = progress;
    parts.logger.info('sender_recovered', {
      ...{ partition, position: start.offset, foldFrom: start.foldFrom },
      ...{ known: byDelivery.size, remembered: states.size },
    });
    const begunBySubscription = new Map(
      [...begunUpTo].map(([subscriptionId, last]) => {
        const foldFrom = states.get(subscriptionId)?.foldFrom ?? start.foldFrom;
        return [subscriptionId, { upTo: last, foldFrom }];
      }),
    );
    return { start, states, byDelivery, begun: { upTo, foldFrom: start.foldFrom }, begunBySubscription, attemptsEnd };
  } finally {
    await fetcher.close();
  }
};
