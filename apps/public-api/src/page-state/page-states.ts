import {
  type DeliveryPosition,
  openPageToken,
  type PageTokenRefusal,
  queryFingerprint,
  type QueryFilters,
  sealPageToken,
} from '@waypost/domain';
import { ApiError, type ErrorCode } from '../errors/api-error.js';

/** What a page token is bound to: the caller's fleet, the resource, and every filter. */
export interface Walk {
  readonly fleetId: string;
  readonly path: string;
  readonly filters: QueryFilters;
}

/** Page tokens of all resources that are walked. */
export interface PageStates {
  seal(position: DeliveryPosition, walk: Walk): string;
  /** The position to go on from. @throws ApiError 400 with a code for each reason */
  open(token: string, walk: Walk): DeliveryPosition;
}

export interface PageStatesDeps {
  /** 32 bytes. */
  readonly key: Buffer;
  readonly now: () => number;
}

export function createPageStates({ key, now }: PageStatesDeps): PageStates {
  return {
    seal: (position, walk) =>
      sealPageToken({ position, fleetId: walk.fleetId, queryFingerprint: fingerprintOf(walk), issuedAt: now() }, key),
    open(token, walk) {
      const expected = { fleetId: walk.fleetId, queryFingerprint: fingerprintOf(walk), nowMs: now() };
      const opened = openPageToken(token, expected, key);
      if (opened.type === 'opened') return opened.position;
      throw refusal(opened.reason);
    },
  };
}

function fingerprintOf({ path, filters }: Walk): string {
  return queryFingerprint({ ...filters, path });
}

const REFUSALS: Readonly<Record<PageTokenRefusal, readonly [ErrorCode, string]>> = {
  malformed: ['page_state_invalid', 'is not a page token of this API'],
  forged: ['page_state_forged', 'was not issued by this service'],
  other_version: ['page_state_outdated', 'comes from another version of the service: start again without it'],
  expired: ['page_state_expired', 'is older than 24 hours: start again without it'],
  other_fleet: ['page_state_other_fleet', "belongs to another fleet's query"],
  other_query: ['page_state_other_query', 'belongs to another query: give it with the parameters that it came from'],
};

function refusal(reason: PageTokenRefusal): ApiError {
  const [code, message] = REFUSALS[reason];
  return new ApiError(400, code, `pageState ${message}`, { details: [{ parameter: 'pageState', message }] });
}
