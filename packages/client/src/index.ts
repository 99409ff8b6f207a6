export {
  type ApiResponse,
  type CallOptions,
  type ClientOptions,
  createWaypostClient,
  type Input,
  type OperationId,
  type Output,
  type PagedOperationId,
  type PageItem,
  type WaypostClient,
} from './client.js';
export { WaypostApiError, WaypostConnectionError } from './errors.js';
export type * from './generated/api.js';
export * from './generated/webhooks.js';
export { newIdempotencyKey } from './idempotency-key.js';
export type { RetryOptions } from './retries.js';
export type { StreamEvent, StreamId, StreamInput, StreamOptions } from './stream.js';
export {
  recognize,
  type RefusalReason,
  type Verification,
  type VerifiedWebhook,
  verify,
  type VerifyOptions,
  type WebhookHeaders,
} from './verify.js';
