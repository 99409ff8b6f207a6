import type { TakenSubscription } from '@waypost/management-store';
import { refusedToPortal } from '../auth/portal-access.js';
import { ApiError, type ErrorDetail, notFound } from '../errors/api-error.js';

export function noSuchSubscription(): ApiError {
  return notFound('There is no such subscription.');
}

/** 409 that names each existing subscription. */
export function subscriptionsTaken(taken: readonly TakenSubscription[]): ApiError {
  const types = taken.map(({ eventType }) => eventType).join(', ');
  const details = taken.map(({ eventType, id }) => takenUrl(eventType, id));
  return conflict(`There is already a subscription for ${types} at this URL; nothing was created.`, details);
}

/** 409 of a change; `id`: the existing subscription. */
export function urlTaken(id: string | null): ApiError {
  const message = 'There is already a subscription for this event type at this URL; nothing was changed.';
  return conflict(message, [takenUrl('this event type', id)]);
}

function takenUrl(eventType: string, id: string | null): ErrorDetail {
  const conflicting = id === null ? {} : { conflictingId: id };
  return { field: 'url', ...conflicting, message: `is already subscribed to ${eventType}` };
}

function conflict(message: string, details: readonly ErrorDetail[]): ApiError {
  return new ApiError(409, 'conflict', message, { details });
}

/** 503 of a pause or a disabling that the senders have not heard of: a 200 promises that nothing is sent any more. */
export function notInEffectYet(): ApiError {
  const message =
    'The change is stored and will take effect, but deliveries may still be sent: it has not yet reached the senders. ' +
    'Repeat the request without If-Match; the response is 200 once the change is in effect.';
  return new ApiError(503, 'not_in_effect_yet', message, { headers: { 'retry-after': '2' } });
}

/** 403 of a portal session that is limited to some subscriptions. */
export function mayNotAddDevices(): ApiError {
  const message =
    'This portal session is limited to some subscriptions: it can remove devices from them, but not add any.';
  return refusedToPortal(message);
}

export function notActive(status: string): ApiError {
  const message = `The subscription is ${status}: set its status to active first.`;
  return new ApiError(409, 'subscription_not_active', message);
}

export function tooManySecrets(retryAfterS: number): ApiError {
  const message = 'Too many earlier secrets are still valid: rotate again when the oldest has expired.';
  return new ApiError(409, 'too_many_secrets', message, { headers: { 'retry-after': String(retryAfterS) } });
}
