import { DAY_MS, LOG_RETENTION_MS, LOG_SEGMENT_MS, MINUTE_MS, VERSION_RETENTION_MS } from '@waypost/domain';
import {
  deviceStateSchema,
  fleetEventSchema,
  fleetSettingsSchema,
  geofenceSchema,
  operationalEventSchema,
  rejectedTelemetrySchema,
  replayProgressSchema,
  subscriptionStateSchema,
  telemetryPingSchema,
  webhookAttemptSchema,
  webhookDeliverySchema,
  webhookReplaySchema,
  webhookSubscriptionSchema,
} from '../generated/schemas.js';

/** The one table of topics. Keys are plain UTF-8; values are Avro in the Confluent wire format. */
export interface TopicDefinition {
  readonly name: string;
  /** The content of the record key. */
  readonly key: string;
  readonly cleanup: 'delete' | 'compact';
  /** 'default': the P of the installation, equal for all such topics, since tasks pair their partitions by number. */
  readonly partitions: 'default' | 1;
  readonly subject: string;
  readonly schema: object;
  readonly configs: Readonly<Record<string, string>>;
  /** Who writes it and who reads it. */
  readonly comment: string;
}

const MEBIBYTE = 1_048_576;

/**
 * A later record carries an earlier one and more (rejected: the ping's bytes; delivery: a JSON body; attempt: that
 * body). An accepted ping must not exceed a smaller limit further on.
 */
const PING_LIMIT_BYTES = MEBIBYTE;
const DERIVED_LIMIT_BYTES = 8 * MEBIBYTE;

/** Uses broker time: with the device's clock as record time, retention would drop late pings on arrival (decision 0004). */
const byAppendTime = { 'message.timestamp.type': 'LogAppendTime' } as const;

function logConfigs(maxMessageBytes: number): Readonly<Record<string, string>> {
  return {
    'cleanup.policy': 'delete',
    'retention.ms': String(LOG_RETENTION_MS),
    'segment.ms': String(LOG_SEGMENT_MS),
    // A limit of the brokers would delete by size what has to stay for its time.
    'retention.bytes': '-1',
    'max.message.bytes': String(maxMessageBytes),
    ...byAppendTime,
  };
}

/** Rolls and cleans early, so that a restore reads little more than one record per key. */
const compactedConfigs: Readonly<Record<string, string>> = {
  'cleanup.policy': 'compact',
  'min.cleanable.dirty.ratio': '0.1',
  'segment.ms': String(10 * MINUTE_MS),
  // Checkpoints that are nearly as old are used. With a lower default of the brokers, applications do not start.
  'delete.retention.ms': String(DAY_MS),
  'max.message.bytes': String(DERIVED_LIMIT_BYTES),
  ...byAppendTime,
};

/**
 * A ping sees the version of a geofence, and of its fleet's settings, at its own time (decisions 0028 and 0030). So
 * every version stays as long as pings can be read: the broker compacts older ones, by append time.
 */
const versionedConfigs: Readonly<Record<string, string>> = {
  ...compactedConfigs,
  'min.compaction.lag.ms': String(VERSION_RETENTION_MS),
};

export const topics = {
  telemetryPings: {
    name: 'telemetry.pings',
    key: 'deviceId',
    cleanup: 'delete',
    partitions: 'default',
    subject: 'telemetry.pings-value',
    schema: telemetryPingSchema,
    configs: logConfigs(PING_LIMIT_BYTES),
    comment: 'Written by producers (R-1). Read by telemetry-processor, history-projector (paths) and analysts.',
  },
  telemetryRejected: {
    name: 'telemetry.rejected',
    key: 'the original key',
    cleanup: 'delete',
    partitions: 'default',
    subject: 'telemetry.rejected-value',
    schema: rejectedTelemetrySchema,
    configs: logConfigs(DERIVED_LIMIT_BYTES),
    comment:
      'Written by the readers of pings, events, deliveries, attempts and compacted topics (R-2, R-3). Read by operators, who may publish the original bytes again: such a copy, and its rejection, name the original in the header `waypost-republished-from` (`offset:timestamp` in its partition).',
  },
  deviceState: {
    name: 'telemetry-processor.device-state',
    key: 'fleetId U+001F deviceId',
    cleanup: 'compact',
    partitions: 'default',
    subject: 'telemetry-processor.device-state-value',
    schema: deviceStateSchema,
    configs: compactedConfigs,
    comment: 'Written by telemetry-processor. Read by its restore, before the first ping of a partition.',
  },
  fleetEvents: {
    name: 'fleet.events',
    key: 'deviceId',
    cleanup: 'delete',
    partitions: 'default',
    subject: 'fleet.events-value',
    schema: fleetEventSchema,
    configs: logConfigs(DERIVED_LIMIT_BYTES),
    comment: 'Written by telemetry-processor (R-10). Read by the fan-out of webhook-delivery and analysts.',
  },
  fleetGeofences: {
    name: 'fleet.geofences',
    key: 'fleetId U+001F geofenceId',
    cleanup: 'compact',
    partitions: 1,
    subject: 'fleet.geofences-value',
    schema: geofenceSchema,
    configs: versionedConfigs,
    comment:
      'Written by the outbox of public-api (R-8); a tombstone deletes. Read by telemetry-processor, and by the commands refill, verify and backtest.',
  },
  fleetSettings: {
    name: 'fleet.settings',
    key: 'fleetId',
    cleanup: 'compact',
    partitions: 1,
    subject: 'fleet.settings-value',
    schema: fleetSettingsSchema,
    configs: versionedConfigs,
    comment:
      'Written by the outbox of public-api (R-14, R-9). Read by telemetry-processor, and by the commands refill, verify and backtest; a subscription carries its own format.',
  },
  webhookSubscriptions: {
    name: 'webhook.subscriptions',
    key: 'subscriptionId',
    cleanup: 'compact',
    partitions: 1,
    subject: 'webhook.subscriptions-value',
    schema: webhookSubscriptionSchema,
    configs: compactedConfigs,
    comment:
      'Written by the outbox of public-api (R-17); a tombstone deletes. Read by webhook-delivery, and by the commands refill and verify.',
  },
  webhookDeliveries: {
    name: 'webhook.deliveries',
    key: 'subscriptionId',
    cleanup: 'delete',
    partitions: 'default',
    subject: 'webhook.deliveries-value',
    schema: webhookDeliverySchema,
    configs: logConfigs(DERIVED_LIMIT_BYTES),
    comment:
      "Written by every fan-out task, by the replayer, and with test events by public-api's outbox: several writers share a partition. The fan-out names the event in the header `waypost-event` (`partition:offset` in fleet.events). Read by the sender, the replayer, history-projector, the fan-out's recovery, the command refill and analysts.",
  },
  webhookAttempts: {
    name: 'webhook.attempts',
    key: 'subscriptionId',
    cleanup: 'delete',
    partitions: 'default',
    subject: 'webhook.attempts-value',
    schema: webhookAttemptSchema,
    configs: logConfigs(DERIVED_LIMIT_BYTES),
    comment:
      "Written by the sender (R-24), in the partition number of the delivery. Read by history-projector, the sender's recovery, the replayer and analysts.",
  },
  subscriptionState: {
    name: 'webhook-delivery.subscription-state',
    key: 'subscriptionId',
    cleanup: 'compact',
    partitions: 'default',
    subject: 'webhook-delivery.subscription-state-value',
    schema: subscriptionStateSchema,
    configs: compactedConfigs,
    comment: 'Written by the sender, in the partition number of the deliveries (R-26, R-29). Read by its recovery.',
  },
  webhookOperations: {
    name: 'webhook.operations',
    key: 'subscriptionId',
    cleanup: 'delete',
    partitions: 'default',
    subject: 'webhook.operations-value',
    schema: operationalEventSchema,
    configs: logConfigs(DERIVED_LIMIT_BYTES),
    comment:
      'Written by the sender. Read by public-api, which disables subscriptions, by the command refill and by operators.',
  },
  webhookReplays: {
    name: 'webhook.replays',
    key: 'replayId',
    cleanup: 'compact',
    partitions: 'default',
    subject: 'webhook.replays-value',
    schema: webhookReplaySchema,
    configs: compactedConfigs,
    comment:
      'Written by the outbox of public-api (R-30), in the partition of the subscription. Read by the replayer of webhook-delivery and the command refill.',
  },
  replayProgress: {
    name: 'webhook-delivery.replay-progress',
    key: 'replayId',
    cleanup: 'compact',
    partitions: 'default',
    subject: 'webhook-delivery.replay-progress-value',
    schema: replayProgressSchema,
    configs: compactedConfigs,
    comment:
      'Written by the replayer of webhook-delivery, in the partition of the subscription. Read by it, by public-api and by the command refill.',
  },
} as const satisfies Readonly<Record<string, TopicDefinition>>;

export type TopicId = keyof typeof topics;
export type TopicName = (typeof topics)[TopicId]['name'];

export const allTopics: readonly TopicDefinition[] = Object.values(topics);

/** Whether times decide what is deleted, or which version counts. Readers of other topics ignore them. */
export function timesCount({ configs }: Pick<TopicDefinition, 'configs'>): boolean {
  return 'retention.ms' in configs || 'min.compaction.lag.ms' in configs;
}

export function topicNamed(name: string): TopicDefinition | undefined {
  return allTopics.find((topic) => topic.name === name);
}

/** For people: the set-up creates topics, applications do not. */
export function missingTopic(topic: string): string {
  return `The topic ${topic} does not exist: run "waypost set-up".`;
}
