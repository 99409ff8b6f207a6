import type {
  DeviceState,
  FleetEvent,
  FleetSettings,
  Geofence,
  OperationalEvent,
  RejectedTelemetry,
  ReplayProgress,
  SubscriptionState,
  TelemetryPing,
  WebhookAttempt,
  WebhookDelivery,
  WebhookReplay,
  WebhookSubscription,
} from '@waypost/domain';
import type { SchemaRegistryPort } from '../registry/schema-registry.js';
import { createWriterSchemas } from '../registry/writer-schemas.js';
import { type TopicId, topics } from '../topics/topics.js';
import { writeDeviceState } from './device-state-avro.js';
import { writeFleetEvent } from './fleet-event-writer.js';
import { createSubjectCodec, type SubjectCodec, type SubjectCodecOptions } from './subject-codec.js';

export interface TopicValues {
  telemetryPings: TelemetryPing;
  telemetryRejected: RejectedTelemetry;
  deviceState: DeviceState;
  fleetEvents: FleetEvent;
  fleetGeofences: Geofence;
  fleetSettings: FleetSettings;
  webhookSubscriptions: WebhookSubscription;
  webhookDeliveries: WebhookDelivery;
  webhookAttempts: WebhookAttempt;
  subscriptionState: SubscriptionState;
  webhookOperations: OperationalEvent;
  webhookReplays: WebhookReplay;
  replayProgress: ReplayProgress;
}

/** One codec per topic; all share the schemas read from the registry. */
export type AvroCodecs = { readonly [Id in TopicId]: SubjectCodec<TopicValues[Id]> };

interface AvroCodecsOptions {
  readonly registry: SchemaRegistryPort;
  /** The clock that limits how long an unknown schema id stays unknown. */
  readonly now?: () => number;
}

type OwnOptions<T> = Pick<SubjectCodecOptions<T>, 'write' | 'largeOptionalLongs'>;

export function createAvroCodecs({ registry, now = Date.now }: AvroCodecsOptions): AvroCodecs {
  const writers = createWriterSchemas(registry, now);
  const codec = <Id extends TopicId>(id: Id, own: OwnOptions<TopicValues[Id]> = {}): SubjectCodec<TopicValues[Id]> =>
    createSubjectCodec({ subject: topics[id].subject, schema: topics[id].schema, registry, writers, ...own });
  return {
    // An optional field never rejects a ping (decision 0011).
    telemetryPings: codec('telemetryPings', { largeOptionalLongs: 'not_reported' }),
    telemetryRejected: codec('telemetryRejected'),
    deviceState: codec('deviceState', { write: writeDeviceState }),
    fleetEvents: codec('fleetEvents', { write: writeFleetEvent }),
    fleetGeofences: codec('fleetGeofences'),
    fleetSettings: codec('fleetSettings'),
    webhookSubscriptions: codec('webhookSubscriptions'),
    webhookDeliveries: codec('webhookDeliveries'),
    webhookAttempts: codec('webhookAttempts'),
    subscriptionState: codec('subscriptionState'),
    webhookOperations: codec('webhookOperations'),
    webhookReplays: codec('webhookReplays'),
    replayProgress: codec('replayProgress'),
  };
}
