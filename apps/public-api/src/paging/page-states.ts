import { Inject, Injectable } from '@nestjs/common';
import {
  deliveryPageTokens,
  type DeliveryWalkPosition,
  type Keys,
  listPageTokens,
  PAGE_TOKEN_LIFETIME_MS,
  type PageTokenRefusal,
  type PageTokens,
  pathPageTokens,
  type PathWalkPosition,
  type QueryFilters,
  queryFingerprint,
} from '@waypost/domain';
import { CLOCK, CONFIG } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { durationText } from '../endpoint/prose.js';
import { ApiError, type ErrorCode } from '../errors/api-error.js';

/** What a page token is bound to: the caller's fleet, the resource, and every filter. */
export interface Walk {
  readonly fleetId: string;
  readonly path: string;
  readonly filters: QueryFilters;
}

/** Seals and opens the page tokens of walks that use one kind of position. */
abstract class PageStates<Position> {
  constructor(
    private readonly tokens: PageTokens<Position>,
    private readonly keys: Keys,
    private readonly nowMs: () => number,
    private readonly kind: QueryFilters = {},
  ) {}

  seal(position: Position, walk: Walk): string {
    const { fleetId } = walk;
    const sealed = { position, fleetId, queryFingerprint: this.fingerprintOf(walk), issuedAt: this.nowMs() };
    return this.tokens.seal(sealed, this.keys);
  }

  /** The position to continue from. @throws ApiError 400 with a code per reason */
  open(token: string, walk: Walk): Position {
    const expected = { fleetId: walk.fleetId, queryFingerprint: this.fingerprintOf(walk), nowMs: this.nowMs() };
    const opened = this.tokens.open(token, expected, this.keys);
    if (opened.type === 'opened') return opened.position;
    throw refusal(opened.reason);
  }

  private fingerprintOf({ path, filters }: Walk): string {
    return queryFingerprint({ ...filters, ...this.kind, path });
  }
}

type PageTokenConfig = Pick<PublicApiConfig, 'pageTokenKeys'>;

/** For walks over deliveries. */
@Injectable()
export class DeliveryPageStates extends PageStates<DeliveryWalkPosition> {
  constructor(@Inject(CONFIG) { pageTokenKeys }: PageTokenConfig, @Inject(CLOCK) nowMs: () => number) {
    super(deliveryPageTokens, pageTokenKeys, nowMs);
  }
}

/** For walks over paths. */
@Injectable()
export class PathPageStates extends PageStates<PathWalkPosition> {
  constructor(@Inject(CONFIG) { pageTokenKeys }: PageTokenConfig, @Inject(CLOCK) nowMs: () => number) {
    super(pathPageTokens, pageTokenKeys, nowMs);
  }
}

/** For walks over lists. Their fingerprint says so: a token from before they had tokens of their own is refused. */
@Injectable()
export class ListPageStates extends PageStates<unknown> {
  constructor(@Inject(CONFIG) { pageTokenKeys }: PageTokenConfig, @Inject(CLOCK) nowMs: () => number) {
    super(listPageTokens, pageTokenKeys, nowMs, { list: true });
  }
}

const REFUSALS: Readonly<Record<PageTokenRefusal, readonly [ErrorCode, string]>> = {
  malformed: ['page_state_invalid', 'is not a page token of this API'],
  forged: ['page_state_forged', 'was not issued by this service'],
  other_version: ['page_state_outdated', 'comes from another version of the service: start again without it'],
  expired: ['page_state_expired', `is older than ${durationText(PAGE_TOKEN_LIFETIME_MS)}: start again without it`],
  other_fleet: ['page_state_other_fleet', "belongs to another fleet's query"],
  other_query: ['page_state_other_query', 'belongs to another query: send it with the parameters of that query'],
};

function refusal(reason: PageTokenRefusal): ApiError {
  const [code, message] = REFUSALS[reason];
  return new ApiError(400, code, `pageState ${message}`, { details: [{ parameter: 'pageState', message }] });
}
