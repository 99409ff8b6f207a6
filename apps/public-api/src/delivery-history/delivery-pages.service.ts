import { Inject, Injectable } from '@nestjs/common';
import {
  clampStart,
  DeliveryHistory,
  type DeliveryQuery,
  type DeliveryRecord,
  type FoundDeliveries,
  MAX_PAGE_BYTES,
  type ShownDelivery,
} from '@waypost/domain';
import { CLOCK } from '@waypost/platform';
import { type Visibility, visibilityFilter } from '../auth/caller.js';
import { DeliveryPageStates, type Walk } from '../paging/page-states.js';
import type { DeliveryPage } from './delivery-page.js';
import { matchesPayload, parsePayloadFilter } from './payload-filter.js';
import { type SearchedPage, searchPage } from './payload-search.js';

/** The filters of a history query; times are epoch ms, the window is on the first attempt. */
export type DeliveryFilters = {
  readonly startAt?: number | undefined;
  readonly endAt?: number | undefined;
  readonly eventTypes?: readonly string[] | undefined;
  readonly deviceId?: string | undefined;
  readonly subscriptionId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly statusCode?: number | undefined;
  readonly status?: DeliveryRecord['status'] | undefined;
  readonly order?: DeliveryQuery['order'];
  /** `path:value` of a field of the payload, which is searched for and not looked up: see `search`. */
  readonly payload?: string | undefined;
};

export interface DeliveryPageRequest {
  /** Whose sight the page keeps to. */
  readonly caller: Visibility;
  /** The resource that is walked; a page token of another is refused. */
  readonly path: string;
  readonly filters: DeliveryFilters;
  readonly limit: number;
  readonly pageState?: string | undefined;
}

export interface EventPageRequest extends Omit<DeliveryPageRequest, 'filters'> {
  readonly eventId: string;
}

/** Deliveries that are walked by one kind of position. */
interface Part {
  readonly isWaiting: boolean;
  readonly find: (query: DeliveryQuery) => Promise<FoundDeliveries<ShownDelivery>>;
}

/** Pages of the delivery history, for both versions of the API. */
@Injectable()
export class DeliveryPagesService {
  constructor(
    private readonly history: DeliveryHistory,
    private readonly pageStates: DeliveryPageStates,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  /**
   * The deliveries of either page below whose payload has a value.
   *
   * @throws ApiError 400 for a page token of another walk
   */
  search(
    payload: string,
    request: DeliveryPageRequest,
    read: (request: DeliveryPageRequest) => Promise<DeliveryPage<ShownDelivery>>,
  ): Promise<SearchedPage<ShownDelivery>> {
    const filter = parsePayloadFilter(payload);
    const { limit, pageState } = request;
    return searchPage({
      limit,
      pageState,
      now: this.now,
      read: (page) => read({ ...request, ...page }),
      matches: ({ body }) => matchesPayload(body, filter),
    });
  }

  /** @throws ApiError 400 for a page token of another walk */
  async read(request: DeliveryPageRequest): Promise<DeliveryPage> {
    const query = this.queryOf(request);
    const { records, hasMore, completeUntil } = await this.history.findDeliveries(query);
    const walk = { ...walkOf(request), startAt: query.startAt };
    return { records, nextPageState: this.nextOf({ records, hasMore }, { isWaiting: false }, walk), completeUntil };
  }

  /**
   * The pending deliveries. Those that had to wait for their first attempt count as the newest and are in the order of their
   * creation: a part of its own, so that no delivery changes its place when it is attempted.
   *
   * @throws ApiError 400 for a page token of another walk
   */
  async readPending(request: DeliveryPageRequest): Promise<DeliveryPage<ShownDelivery>> {
    const parts: readonly Part[] = [
      { isWaiting: false, find: (query) => this.history.findDeliveries({ ...query, withoutWaiting: true }) },
      { isWaiting: true, find: (query) => this.history.findWaiting(query) },
    ];
    return this.readParts(request, request.filters.order === 'desc' ? parts.toReversed() : parts);
  }

  /**
   * The deliveries of an event by series: of one that is attempted during a walk, nothing else stays the same.
   *
   * @throws ApiError 400 for a page token of another walk
   */
  async readEvent({ eventId, ...asked }: EventPageRequest): Promise<DeliveryPage<ShownDelivery>> {
    const request = { ...asked, filters: { eventId } };
    const { after, ...query } = this.queryOf(request);
    const found = await this.history.findEvent({ ...query, eventId, afterSeries: after?.series });
    const walk = { ...walkOf(request), startAt: query.startAt };
    const { records, completeUntil } = found;
    return { records, nextPageState: this.nextOf(found, { isWaiting: false }, walk), completeUntil };
  }

  /** A page begins in one part and, if that ends on it, continues in the next, with what is left of its records and bytes. */
  private async readParts(request: DeliveryPageRequest, parts: readonly Part[]): Promise<DeliveryPage<ShownDelivery>> {
    const { after, ...query } = this.queryOf(request);
    const startsWaiting = after?.isWaiting === true;
    const [first, second] =
      after === undefined ? parts : parts.slice(parts.findIndex(({ isWaiting }) => isWaiting === startsWaiting));
    if (first === undefined) throw new Error('A walk has at least one part.');
    const found = await first.find({ ...query, after });
    const { completeUntil } = found;
    const walk = { ...walkOf(request), startAt: query.startAt };
    if (found.hasMore || second === undefined) {
      return { records: found.records, nextPageState: this.nextOf(found, first, walk), completeUntil };
    }
    // When no room is left, one record says whether there are more.
    const room = query.limit - found.records.length;
    const maxBytes = MAX_PAGE_BYTES - found.bytes;
    const others = await second.find({ ...query, limit: Math.max(room, 1), maxBytes });
    // A single record is found that has more bytes.
    if (found.records.length > 0 && (room === 0 || others.bytes > maxBytes)) {
      const hasMore = others.records.length > 0;
      return {
        records: found.records,
        nextPageState: this.nextOf({ ...found, hasMore }, first, walk),
        completeUntil,
      };
    }
    const records = [...found.records, ...others.records];
    return { records, nextPageState: this.nextOf(others, second, walk), completeUntil };
  }

  private nextOf(
    { records, hasMore }: Pick<FoundDeliveries<ShownDelivery>, 'records' | 'hasMore'>,
    { isWaiting }: Pick<Part, 'isWaiting'>,
    { startAt, ...walk }: Walk & { readonly startAt: number },
  ): string | null {
    const last = hasMore ? records.at(-1) : undefined;
    if (last === undefined) return null;
    const { firstAttemptAt, createdAt, eventId, series } = last;
    const position = isWaiting
      ? { firstAttemptAt: createdAt, eventId, series, isWaiting: true as const }
      : { firstAttemptAt: firstAttemptAt ?? createdAt, eventId, series };
    return this.pageStates.seal({ ...position, startAt }, walk);
  }

  private queryOf(request: DeliveryPageRequest): DeliveryQuery {
    const { caller, filters, limit, pageState } = request;
    const after = pageState === undefined ? undefined : this.pageStates.open(pageState, walkOf(request));
    return {
      ...sentFilters(filters),
      ...visibilityFilter(caller),
      fleetId: caller.fleetId,
      // Clamped once: a walk neither loses what grows too old while it continues, nor shows more on its later pages.
      startAt: after?.startAt ?? clampStart(filters.startAt ?? 0, this.now()),
      endAt: filters.endAt ?? Number.MAX_SAFE_INTEGER,
      limit,
      ...(after === undefined ? {} : { after }),
    };
  }
}

/** What a page token is bound to. */
function walkOf({ caller, path, filters }: DeliveryPageRequest): Walk {
  return { fleetId: caller.fleetId, path, filters: { ...filters, ...visibilityFilter(caller) } };
}

/** The filters that were sent; the others are absent, not undefined. */
function sentFilters({ eventTypes, deviceId, subscriptionId, eventId, statusCode, status, order }: DeliveryFilters) {
  return {
    ...(eventTypes === undefined || eventTypes.length === 0 ? {} : { eventTypes }),
    ...(deviceId === undefined ? {} : { deviceId }),
    ...(subscriptionId === undefined ? {} : { subscriptionId }),
    ...(eventId === undefined ? {} : { eventId }),
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(status === undefined ? {} : { status }),
    ...(order === undefined ? {} : { order }),
  };
}
