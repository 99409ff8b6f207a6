import { describe, expect, it } from '@jest/globals';
import type * as domain from '@waypost/domain';
import type { TopicValues } from './avro-codecs.js';

/** Fails to compile unless A and B can stand for each other. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;

/** The values of topics that the rules work on; each is the domain's type and the schema's at once. */
const sameAsSchema: {
  telemetryPings: Same<TopicValues['telemetryPings'], domain.TelemetryPing>;
  deviceState: Same<TopicValues['deviceState'], domain.DeviceState>;
  fleetEvents: Same<TopicValues['fleetEvents'], domain.FleetEvent>;
  fleetGeofences: Same<TopicValues['fleetGeofences'], domain.Geofence>;
  fleetSettings: Same<TopicValues['fleetSettings'], domain.FleetSettings>;
  webhookSubscriptions: Same<TopicValues['webhookSubscriptions'], domain.WebhookSubscription>;
  webhookDeliveries: Same<TopicValues['webhookDeliveries'], domain.WebhookDelivery>;
  webhookAttempts: Same<TopicValues['webhookAttempts'], domain.WebhookAttempt>;
  webhookReplays: Same<TopicValues['webhookReplays'], domain.WebhookReplay>;
  replayProgress: Same<TopicValues['replayProgress'], domain.ReplayProgress>;
  webhookOperations: Same<TopicValues['webhookOperations'], domain.OperationalEvent>;
} = {
  telemetryPings: true,
  deviceState: true,
  fleetEvents: true,
  fleetGeofences: true,
  fleetSettings: true,
  webhookSubscriptions: true,
  webhookDeliveries: true,
  webhookAttempts: true,
  webhookReplays: true,
  replayProgress: true,
  webhookOperations: true,
};

describe('The domain types', () => {
  it('are the generated ones, as the compiler has checked in this file', () => {
    expect(Object.values(sameAsSchema)).not.toContain(false);
  });
});
