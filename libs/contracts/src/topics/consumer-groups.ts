import { type TopicName, topics } from './topics.js';

/** A consumer group and the topics that it reads. Its committed offsets say how far its work on them is finished. */
export interface ConsumerGroup {
  readonly id: string;
  readonly app: string;
  readonly topics: readonly [TopicName];
}

function group(id: string, { name }: { readonly name: TopicName }): ConsumerGroup {
  const [app = id] = id.split('.');
  return { id, app, topics: [name] };
}

export const consumerGroups = {
  telemetryProcessor: group('telemetry-processor', topics.telemetryPings),
  fanOut: group('webhook-delivery.fan-out', topics.fleetEvents),
  /** Its committed offset is the lowest unfinished delivery: without lag nothing is pending. */
  sender: group('webhook-delivery.sender', topics.webhookDeliveries),
  /** Its committed offset is the oldest unfinished replay. */
  replayer: group('webhook-delivery.replayer', topics.webhookReplays),
  /** Copies the progress of replays to the tables that the API lists. */
  replayProgress: group('public-api.replay-progress', topics.replayProgress),
  historyProjector: group('history-projector', topics.webhookAttempts),
  /** Every accepted ping before its committed offset is in the paths. */
  pathProjector: group('history-projector.paths', topics.telemetryPings),
  /** Everything without an attempt before its committed offset is in the history. */
  waitingProjector: group('history-projector.waiting', topics.webhookDeliveries),
  /** Everything before its committed offset is stored, and the subscriptions in it are disabled. */
  operationalEvents: group('public-api.operations', topics.webhookOperations),
} as const satisfies Readonly<Record<string, ConsumerGroup>>;

export const allConsumerGroups: readonly ConsumerGroup[] = Object.values(consumerGroups);
