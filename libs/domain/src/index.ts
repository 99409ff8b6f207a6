// Times are epoch milliseconds and places WGS-84 degrees, unless a name or a comment says otherwise.
export { DomainError } from './domain-error.js';

export { ATTEMPT_DEADLINE_MS, MAX_KEPT_BODY_BYTES, MAX_RESPONSE_TEXT_BYTES } from './delivery/attempt-limits.js';
export {
  type AttemptDecision,
  type AttemptErrorCode,
  type AttemptResult,
  decideAttempt,
  decideProbe,
} from './delivery/decide-attempt.js';
export { DELIVERY_HEADER, type DeliveryHeaderName } from './delivery/delivery-headers.js';
export { DELIVERY_UNSTARTED, deliveryFold, type DeliveryProgress, recordNumber } from './delivery/delivery-fold.js';
export { attemptFault, deliveryFault, eventFault, isFoldable, waitingFault } from './delivery/unusable-records.js';
export {
  concernsEndpoint,
  DISABLE_AFTER_DAYS,
  DISABLE_AFTER_FAILED_DAYS,
  DISABLE_AFTER_FAILURES,
  type EndpointHealth,
  healthAfter,
  healthSince,
  HEALTHY,
  PROBE_EVERY_MS,
  REPORT_FAILING_EVERY_MS,
  SUSPEND_AFTER_MS,
  type HealthVerdict,
} from './delivery/outage-policy.js';
export { parseRetryAfter, retryAfterMs } from './delivery/retry-after.js';
export { MAX_ATTEMPTS, MAX_RETRY_DELAY_MS, retryDelayMs } from './delivery/retry-delay.js';
export {
  formatSigningSecret,
  REPLACED_SECRET_SIGNS_MS,
  signatureHeaders,
  validSigningSecrets,
} from './delivery/signature.js';

export { eventId, operationId } from './event/event-id.js';
export { isUuid } from './event/uuid.js';
export {
  DELIVERY_EVENT_TYPES,
  EVENT_TYPES,
  type EventType,
  isRouteEventType,
  TEST_EVENT_TYPE,
} from './event/event-type.js';
export { draftEvent } from './event/draft-event.js';
export { PAYLOAD_FORMATS, type PayloadFormat, serializeBody } from './event/payload-format.js';

export type { GeofenceView } from './geofence/decide-geofences.js';
export { createGeofenceHistory, type FleetGeofences, type GeofenceHistory } from './geofence/geofence-history.js';
export { geofenceKey, parseGeofenceKey } from './geofence/geofence-key.js';
export { geofenceFault } from './geofence/geofence-shape.js';

export {
  DECISIONS_WITHOUT_ATTEMPT,
  DELIVERY_STATUSES,
  attemptCount,
  type AttemptEntry,
  DeliveryHistory,
  type DeliveryPosition,
  type DeliveryQuery,
  type DeliveryRecord,
  deliveryStatus,
  type DeliveryStatus,
  isAttempt,
  probeCount,
  type FoundDeliveries,
  type ShownDelivery,
  type WaitingDelivery,
  type DeliveryWalkPosition,
  type EventQuery,
} from './history/delivery-history.js';
export {
  deliveryPageTokens,
  listPageTokens,
  PAGE_TOKEN_LIFETIME_MS,
  type PageTokenRefusal,
  type PageTokens,
  pathPageTokens,
} from './history/page-token.js';
export { type QueryFilters, queryFingerprint } from './history/query-fingerprint.js';
export { streamPositionTokens } from './history/stream-position.js';
export {
  PathHistory,
  type PathPoint,
  type PathPosition,
  type PathQuery,
  type PathWalkPosition,
} from './history/path-history.js';
export { completeUntil } from './history/complete-until.js';
export { MAX_PAGE_BYTES, MAX_PAGE_ITEMS } from './history/page-size.js';
export {
  clampStart,
  clampWindow,
  LOG_RETENTION_MS,
  LOG_SEGMENT_MS,
  RETENTION_DAYS,
  RETENTION_MS,
  VERSION_RETENTION_MS,
  WALKED_MS,
} from './history/retention.js';

export { checkPing, checkPingOfKnownDevice, MAX_ID_LENGTH, type PingCheck } from './ping/check-ping.js';
export type { FixedPing } from './ping/valid-fix.js';
export { pathPointOf } from './ping/path-of-ping.js';

export type { DeviceGeofences, DeviceState, GeofenceVisit, RouteProgress, Trip } from './records/device-state.js';
export type { FleetEvent } from './records/fleet-event.js';
export type { FleetSettings } from './records/fleet-settings.js';
export type { Geofence, GeofenceCircle, GeofencePolygon } from './records/geofence.js';
export type { OperationalEvent } from './records/operational-event.js';
export type { RejectedTelemetry } from './records/rejected-telemetry.js';
export type { ReplayProgress } from './records/replay-progress.js';
export type { KnownDeliveries, SubscriptionState, UnfinishedDelivery } from './records/subscription-state.js';
export type { TelemetryPing } from './records/telemetry-ping.js';
export type { WebhookAttempt } from './records/webhook-attempt.js';
export type { WebhookDelivery } from './records/webhook-delivery.js';
export type { WebhookReplay } from './records/webhook-replay.js';
export type {
  BearerAuth,
  ClientCertificate,
  CustomHeader,
  SealedSecret,
  WebhookSubscription,
} from './records/webhook-subscription.js';

export {
  DEFAULT_REPLAY_RATE_PER_SECOND,
  deliveryOfAttempt,
  type DeliveryResult,
  goesByResult,
  isOfReplay,
  isReplayed,
  isReplayOver,
  MAX_REPLAY_RATE_PER_SECOND,
  replayedDelivery,
  type ReplayProgressState,
  resultOf,
} from './replay/replay.js';

export { type RouteSettings } from './route/route-settings.js';

export { CREDENTIAL_PREFIXES, formatApiKey, formatCredential, hashApiKey } from './secret/api-key.js';
export {
  isSealedWithNewest,
  keyIdOf,
  type Keys,
  openClientKey,
  openClientSecret,
  type OpenedSecret,
  openHeaderValue,
  openSecret,
  openSigningSecret,
  sealClientKey,
  sealClientSecret,
  sealHeaderValue,
  sealSecret,
  sealSigningSecret,
} from './secret/sealed-secret.js';

export {
  customHeaderBytes,
  HEADER_NAME,
  HEADER_VALUE,
  isReservedHeader,
  MAX_CUSTOM_HEADER_BYTES,
  MAX_CUSTOM_HEADERS,
  MAX_HEADER_NAME_LENGTH,
} from './subscription/custom-headers.js';
export { decideFanOut, matchesSubscription } from './subscription/fan-out.js';
export {
  createFleetSettingsHistory,
  type FleetSettingsHistory,
  type FleetSettingsVersions,
} from './fleet/fleet-settings-history.js';
export { FLEET_ID_FORM, isFleetId } from './fleet/fleet-id.js';
export { mayDisable } from './subscription/may-disable.js';
export {
  HEALTH_STATUSES,
  MAX_COUNTED_PENDING,
  type NewestOperations,
  type SubscriptionActivity,
  type SubscriptionHealth,
  subscriptionHealth,
  type Suspension,
  suspensionOf,
} from './subscription/health-summary.js';
export { SUBSCRIPTION_STATUSES } from './subscription/subscription-status.js';
export { testDelivery } from './subscription/test-delivery.js';

export { decidePing, isAccepted, type MovedPing, type PingDecision } from './rules/decide-ping.js';
export { evolveDevice } from './rules/evolve-device.js';
export { RULE_SETS, type RuleSet } from './rules/rule-set.js';
export { DEFAULT_RULE_SETTINGS, type RuleSettings } from './rules/rule-settings.js';

export { CLOCK_TOLERANCE_MS, CLOCKS_AGREE_WITHIN_MS } from './time/clock-tolerance.js';
export { DAY_MS, HOUR_MS, MINUTE_MS } from './time/units.js';
export { formatTime, MAX_TIME_MS, parseInstant } from './time/instant.js';
export {
  isSampledTrace,
  parseTraceparent,
  TRACEPARENT,
  traceOfAttempt,
  traceOfDelivery,
  traceOfPing,
  traceOfProjection,
} from './trace/trace-context.js';
export { MAX_TRACESTATE_LENGTH, passedTracestate, TRACESTATE } from './trace/trace-state.js';
