import { topics, type TopicName } from './topics.js';

/** A consumer group and what it reads. Its committed offsets say how far the work on these topics is finished. */
export interface ConsumerGroup {
  readonly id: string;
  readonly app: string;
  readonly topics: readonly TopicName[];
}

export const consumerGroups = {
  telemetryProcessor: {
    id: 'telemetry-processor',
    app: 'telemetry-processor',
    topics: [topics.telemetryPings.name],
  },
  fanOut: {
    id: 'webhook-delivery.fan-out',
    app: 'webhook-delivery',
    topics: [topics.fleetEvents.name],
  },
  /** Its committed offset is the lowest unfinished delivery, so no lag means that nothing is pending. */
  sender: {
    id: 'webhook-delivery.sender',
    app: 'webhook-delivery',
    topics: [topics.webhookDeliveries.name],
  },
  /** Its committed offset is the oldest unfinished replay. */
  replayer: {
    id: 'webhook-delivery.replayer',
    app: 'webhook-delivery',
    topics: [topics.webhookReplays.name],
  },
  /** Copies the progress of replays to where the API lists them. */
  replayProgress: {
    id: 'public-api.replay-progress',
    app: 'public-api',
    topics: [topics.replayProgress.name],
  },
  historyProjector: {
    id: 'history-projector',
    app: 'history-projector',
    topics: [topics.webhookAttempts.name],
  },
  /** Its committed offset: every accepted ping before it is in the paths. */
  pathProjector: {
    id: 'history-projector.paths',
    app: 'history-projector',
    topics: [topics.telemetryPings.name],
  },
  /** Its committed offset: everything before it has been kept, and the subscriptions in it are disabled. */
  subscriptionOperations: {
    id: 'public-api.operations',
    app: 'public-api',
    topics: [topics.webhookOperations.name],
  },
} as const satisfies Readonly<Record<string, ConsumerGroup>>;

export const allConsumerGroups: readonly ConsumerGroup[] = Object.values(consumerGroups);
