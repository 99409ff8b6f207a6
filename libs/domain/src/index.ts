export {
  DISABLE_AFTER_MS,
  healthAfter,
  HEALTHY,
  PROBE_EVERY_MS,
  SUSPEND_AFTER_MS,
  type EndpointAttempt,
  type EndpointHealth,
  type HealthVerdict,
} from './delivery/endpoint-health.js';
export { operationId, type OperationIdentity } from './operations/operation-id.js';
export { DomainError, type DomainErrorCode } from './domain-error.js';

export { checkPing, checkPingOfKnownDevice, MAX_ID_LENGTH, type PingCheck } from './telemetry/check-ping.js';
export {
  decidePing,
  isAccepted,
  type AcceptedPing,
  type MovedPing,
  type PingDecision,
} from './telemetry/decide-ping.js';
export type { DeviceGeofences, DeviceState, GeofenceVisit, RouteProgress, Trip } from './telemetry/device-state.js';
export { hasValidFix, type FixedPing } from './telemetry/fix.js';
export { evolveDevice } from './telemetry/evolve-device.js';
export { pathPointOf } from './telemetry/path-of-ping.js';
export { DEFAULT_RULE_SETTINGS, POSITION_WINDOW_MS, type RuleSettings } from './telemetry/rule-settings.js';
export type { TelemetryPing } from './telemetry/telemetry-ping.js';

export { resourceIdOf, RESOURCE_ID_NAMESPACE, type ResourceIdentity } from './route/resource-id.js';
export { DEFAULT_ROUTE_SETTINGS, type RouteSettings } from './route/route-settings.js';

export type { GeofenceView } from './geofence/decide-geofences.js';
export type { FleetGeofences } from './geofence/fleet-geofences.js';
export {
  geofenceKey,
  parseGeofenceKey,
  type Geofence,
  type GeofenceCircle,
  type GeofencePolygon,
  type GeoPoint,
} from './geofence/geofence.js';
export { createGeofenceHistory, type GeofenceHistory } from './geofence/geofence-history.js';
export { DEFAULT_GEOFENCE_SETTINGS, type GeofenceSettings } from './geofence/geofence-settings.js';
export { geofenceFault } from './geofence/geofence-shape.js';

export { eventId, EVENT_ID_NAMESPACE, type EventIdentity } from './event/event-id.js';
export {
  DELIVERY_EVENT_TYPES,
  EVENT_TYPES,
  isEventType,
  isRouteEventType,
  TEST_EVENT_TYPE,
  type EventType,
} from './event/event-type.js';
export { draftEvent, type FleetEvent } from './event/fleet-event.js';
export { joinIds } from './event/join-ids.js';
export { serialiseEnvelope } from './event/envelope.js';
export { serialiseLegacyV1 } from './event/legacy-v1.js';
export {
  isPayloadFormat,
  PAYLOAD_FORMATS,
  payloadFormatOf,
  serialiseBody,
  type PayloadFormat,
} from './event/payload-format.js';

export type { FleetSettings } from './subscription/fleet-settings.js';
export {
  createFleetSettingsHistory,
  type FleetSettingsHistory,
  type FleetSettingsVersions,
} from './subscription/fleet-settings-history.js';
export { decideFanOut } from './subscription/fan-out.js';
export { matchesSubscription } from './subscription/matches-subscription.js';
export { mayDisable, type OperationalEvent } from './subscription/operational-event.js';
export { testDelivery, TEST_DEVICE_ID, type TestRequest } from './subscription/test-delivery.js';
export { validSigningSecrets } from './subscription/signing-secrets.js';
export type { BearerAuth, SealedSecret, WebhookSubscription } from './subscription/webhook-subscription.js';

export { ATTEMPT_ERROR_CODES, type AttemptErrorCode, type AttemptResult } from './delivery/attempt-result.js';
export {
  decideAttempt,
  type AttemptDecision,
  type FailureReason,
  type FinishedAttempt,
  type RetryReason,
} from './delivery/decide-attempt.js';
export {
  DELIVERY_UNSTARTED,
  deliveryFold,
  type DeliveryProgress,
  type FoldedAttempt,
} from './delivery/delivery-fold.js';
export { parseRetryAfter } from './delivery/retry-after.js';
export { MAX_ATTEMPTS, MAX_RETRY_DELAY_MS, retryDelayMs } from './delivery/retry-delay.js';
export { signatureHeaders, type SignedAttempt } from './delivery/signature.js';
export { formatSigningSecret, parseSigningSecret } from './delivery/signing-secret.js';
export type { WebhookAttempt } from './delivery/webhook-attempt.js';
export type { WebhookDelivery } from './delivery/webhook-delivery.js';

export { replayedDelivery } from './replay/replayed-delivery.js';
export { isReplayed, replayStatusOf, type ReplayedAttempt } from './replay/replay-selection.js';
export {
  DEFAULT_REPLAY_RATE_PER_SECOND,
  isReplayOver,
  MAX_REPLAY_RATE_PER_SECOND,
  type ReplayProgress,
  type ReplayProgressState,
  type WebhookReplay,
} from './replay/webhook-replay.js';

export { apiKeysEqual, formatApiKey, hashApiKey } from './secret/api-key.js';
export { openSecret, sealSecret, type OpenedSecret } from './secret/sealed-secret.js';
export {
  openClientSecret,
  openSigningSecret,
  sealClientSecret,
  sealSigningSecret,
} from './secret/subscription-secrets.js';

export type { DeliveryHistory, DeliveryPosition, DeliveryQuery } from './history/delivery-history.js';
export {
  deliveryStatus,
  type AttemptEntry,
  type DeliveryRecord,
  type DeliveryStatus,
} from './history/delivery-record.js';
export {
  deliveryPageTokens,
  PAGE_TOKEN_LIFETIME_MS,
  pathPageTokens,
  type PageTokenRefusal,
  type PageTokens,
} from './history/page-token.js';
export type { PathHistory, PathPoint, PathPosition, PathQuery, PathWalkPosition } from './history/path-history.js';
export { queryFingerprint, type QueryFilters } from './history/query-fingerprint.js';
export { clampWindow, RETENTION_MS, type ClampedWindow } from './history/retention.js';

export { formatTime, MAX_TIME_MS, parseInstant, type ParsedInstant } from './time/instant.js';
