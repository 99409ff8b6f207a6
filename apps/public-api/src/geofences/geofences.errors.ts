import { MAX_GEOFENCES } from '@waypost/management-store';
import { ApiError, notFound } from '../errors/api-error.js';

export function noSuchGeofence(): ApiError {
  return notFound('There is no such geofence.');
}

export function tooManyGeofences(): ApiError {
  const message = `A fleet can have ${String(MAX_GEOFENCES)} geofences: delete one first.`;
  return new ApiError(409, 'too_many_geofences', message);
}
