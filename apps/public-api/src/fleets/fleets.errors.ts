import { type ApiError, notFound } from '../errors/api-error.js';

export function noSuchFleet(): ApiError {
  return notFound('This fleet no longer exists.');
}
