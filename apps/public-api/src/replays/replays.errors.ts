import { RETENTION_DAYS } from '@waypost/domain';
import { UNFINISHED_REPLAYS } from '@waypost/management-store';
import { ApiError, invalidBody, notFound } from '../errors/api-error.js';

export function noSuchReplay(): ApiError {
  return notFound('There is no such replay.');
}

export function tooManyReplays(): ApiError {
  const message = `${String(UNFINISHED_REPLAYS)} replays of this subscription are unfinished: wait for one to finish, or cancel one.`;
  return new ApiError(409, 'too_many_replays', message);
}

/** 400: a window that lies wholly before the retention cannot be sent again. */
export function windowExpired(): ApiError {
  const message = `must lie within the last ${String(RETENTION_DAYS)} days: older deliveries are not kept`;
  return invalidBody([{ field: 'endDate', message }]);
}
