import {
  deliveryPageTokens,
  type DeliveryWalkPosition,
  type Keys,
  listPageTokens,
  type PageTokenRefusal,
  type PageTokens,
  pathPageTokens,
  type PathWalkPosition,
  type QueryFilters,
  queryFingerprint,
} from '@waypost/domain';
import { ApiError, type ErrorCode } from '../errors/api-error.js';

export const PAGE_STATES = Symbol('page states');
export const PATH_PAGE_STATES = Symbol('page states of paths');
export const LIST_PAGE_STATES = Symbol('page states of lists');

/** What a page token is bound to: the caller's fleet, the resource, and every filter. */
export interface Walk {
  readonly fleetId: string;
  readonly path: string;
  readonly filters: QueryFilters;
}

/** Page tokens of all resources whose walks use one kind of position. */
export interface PageStates<Position = DeliveryWalkPosition> {
  seal(position: Position, walk: Walk): string;
  /** The position to go on from. @throws ApiError 400 with a code per reason */
  open(token: string, walk: Walk): Position;
}

export interface PageStatesDeps {
  readonly keys: Keys;
  readonly now: () => number;
}

export function createPageStates(deps: PageStatesDeps): PageStates {
  return pageStatesOf(deliveryPageTokens, deps);
}

/** For walks over paths. */
export function createPathPageStates(deps: PageStatesDeps): PageStates<PathWalkPosition> {
  return pageStatesOf(pathPageTokens, deps);
}

/** For walks over lists. Their fingerprint says so: a token from before they had tokens of their own is refused. */
export function createListPageStates(deps: PageStatesDeps): PageStates<unknown> {
  return pageStatesOf(listPageTokens, deps, { list: true });
}

function pageStatesOf<Position>(
  tokens: PageTokens<Position>,
  { keys, now }: PageStatesDeps,
  kind: QueryFilters = {},
): PageStates<Position> {
  const fingerprintOf = ({ path, filters }: Walk): string => queryFingerprint({ ...filters, ...kind, path });
  return {
    seal: (position, walk) =>
      tokens.seal({ position, fleetId: walk.fleetId, queryFingerprint: fingerprintOf(walk), issuedAt: now() }, keys),
    open(token, walk) {
      const expected = { fleetId: walk.fleetId, queryFingerprint: fingerprintOf(walk), nowMs: now() };
      const opened = tokens.open(token, expected, keys);
      if (opened.type === 'opened') return opened.position;
      throw refusal(opened.reason);
    },
  };
}

const REFUSALS: Readonly<Record<PageTokenRefusal, readonly [ErrorCode, string]>> = {
  malformed: ['page_state_invalid', 'is not a page token of this API'],
  forged: ['page_state_forged', 'was not issued by this service'],
  other_version: ['page_state_outdated', 'comes from another version of the service: start again without it'],
  expired: ['page_state_expired', 'is older than 24 hours: start again without it'],
  other_fleet: ['page_state_other_fleet', "belongs to another fleet's query"],
  other_query: ['page_state_other_query', 'belongs to another query: send it with the parameters of that query'],
};

function refusal(reason: PageTokenRefusal): ApiError {
  const [code, message] = REFUSALS[reason];
  return new ApiError(400, code, `pageState ${message}`, { details: [{ parameter: 'pageState', message }] });
}
