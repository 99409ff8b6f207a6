import { ApiError, notFound } from '../errors/api-error.js';

export function noSuchSubscription(): ApiError {
  return notFound('There is no such subscription.');
}

export function noSuchFleet(): ApiError {
  return notFound('This fleet no longer exists.');
}

/** Empty `eventTypes`: the type of the subscription that was to change. */
export function subscriptionTaken(eventTypes: readonly string[]): ApiError {
  const which = eventTypes.length === 0 ? 'this event type' : eventTypes.join(', ');
  const message = `There is already a subscription for ${which} at this URL; nothing was changed.`;
  const details = [{ field: 'url', message: `is already subscribed to ${which}` }];
  return new ApiError(409, 'conflict', message, { details });
}

export function notActive(status: string): ApiError {
  const message = `The subscription is ${status}: set its status to active first.`;
  return new ApiError(409, 'subscription_not_active', message);
}

export function tooManySecrets(retryAfterS: number): ApiError {
  const message = 'Too many earlier secrets still sign; rotate again when the oldest of them has expired.';
  return new ApiError(409, 'too_many_secrets', message, { headers: { 'retry-after': String(retryAfterS) } });
}
