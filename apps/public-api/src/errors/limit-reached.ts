import type { LimitReached } from '@waypost/management-store';
import { ApiError, type ErrorCode, type ErrorDetail } from './api-error.js';

interface Named {
  readonly code: ErrorCode;
  readonly name: string;
  /** The field of the body that asks for more. */
  readonly at?: Pick<ErrorDetail, 'field'>;
}

const NAMES: Readonly<Record<LimitReached['resource'], Named>> = {
  subscriptions: { code: 'too_many_subscriptions', name: 'subscriptions', at: { field: 'eventTypes' } },
  deviceIds: {
    code: 'too_many_device_ids',
    name: 'device ids in all its subscriptions',
    at: { field: 'deviceIds' },
  },
  apiKeys: { code: 'too_many_api_keys', name: 'API keys that are not revoked' },
  portalSessions: { code: 'too_many_portal_sessions', name: 'portal sessions that have not ended' },
  startedReplays: { code: 'too_many_replays_per_day', name: 'replays and resends in a day (UTC)' },
  writtenPositions: { code: 'too_many_changes_per_day', name: 'positions of geofences written in a day (UTC)' },
};

/** 409 that says what the fleet may have and has. */
export function tooMany({ resource, limit, current, added }: LimitReached): ApiError {
  const { code, name, at = {} } = NAMES[resource];
  const message = `A fleet may have ${String(limit)} ${name}: it has ${String(current)}, and this would add ${String(added)}.`;
  const details = [{ ...at, limit, current, message: `would add ${String(added)}` }];
  return new ApiError(409, code, message, { details });
}

/** The same for who is limited to some subscriptions: nothing of what the others have. */
export function tooManyOfFleet({ resource, added }: LimitReached): ApiError {
  const { code, name, at = {} } = NAMES[resource];
  const details = [{ ...at, message: `would add ${String(added)}` }];
  return new ApiError(409, code, `This would exceed the limit of the fleet for ${name}.`, { details });
}
