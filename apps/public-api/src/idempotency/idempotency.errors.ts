import { IDEMPOTENCY_KEPT_MS } from '@waypost/management-store';
import { durationText } from '../endpoint/prose.js';
import { ApiError } from '../errors/api-error.js';

export function keyReused(): ApiError {
  const message = `This Idempotency-Key was used for another request in the last ${durationText(IDEMPOTENCY_KEPT_MS)}: use a new one. Nothing was done.`;
  return new ApiError(422, 'idempotency_key_reused', message);
}

export function inProgress(): ApiError {
  const message = 'A request with this Idempotency-Key is in progress: repeat it to get its response.';
  return new ApiError(409, 'idempotency_in_progress', message, { headers: { 'retry-after': '1' } });
}

export function answerLost(): ApiError {
  const message =
    'This request was carried out before, but its response can no longer be read. Check the current state; use a new key for another change.';
  return new ApiError(409, 'idempotency_answer_lost', message);
}
