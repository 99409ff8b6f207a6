import { Inject, Injectable } from '@nestjs/common';
import {
  clampStart,
  DeliveryHistory,
  type DeliveryQuery,
  type DeliveryRecord,
  type DeliveryWalkPosition,
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

/** A page of a walk: from the start, or after the position of its token. */
interface WalkQuery extends DeliveryQuery {
  readonly after?: DeliveryWalkPosition;
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
    @Inject(CLOCK) private readonly nowMs: () => number,
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
      nowMs: this.nowMs,
      read: (page) => read({ ...request, ...page }),
      matches: ({ body }) => matchesPayload(body, filter),
    });
  }

  /** @throws ApiError 400 for a page token of another walk */
  async read(request: DeliveryPageRequest): Promise<DeliveryPage> {
    const query = this.queryOf(request);
    return this.pageOf(await this.history.findDeliveries(query), { isWaiting: false }, { request, query });
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
    const query = this.queryOf(request);
    const found = await this.history.findEvent({ ...query, eventId, afterSeries: query.after?.series });
    return this.pageOf(found, { isWaiting: false }, { request, query });
  }

  /** A page begins in one part and, if that ends on it, continues in the next, with what is left of its records and bytes. */
  private async readParts(request: DeliveryPageRequest, parts: readonly Part[]): Promise<DeliveryPage<ShownDelivery>> {
    const query = this.queryOf(request);
    const { after, ...fromStart } = query;
    const startsWaiting = after?.isWaiting === true;
    const [first, second] =
      after === undefined ? parts : parts.slice(parts.findIndex(({ isWaiting }) => isWaiting === startsWaiting));
    if (first === undefined) throw new Error('A walk has at least one part.');
    const found = await first.find(query);
    if (found.hasMore || second === undefined) return this.pageOf(found, first, { request, query });
    // When no room is left, one record says whether there are more.
    const room = query.limit - found.records.length;
    const maxBytes = MAX_PAGE_BYTES - found.bytes;
    const others = await second.find({ ...fromStart, limit: Math.max(room, 1), maxBytes });
    // A single record is found that has more bytes.
    if (found.records.length > 0 && (room === 0 || others.bytes > maxBytes)) {
      return this.pageOf({ ...found, hasMore: others.records.length > 0 }, first, { request, query });
    }
    const { hasMore } = others;
    return this.pageOf({ ...found, records: [...found.records, ...others.records], hasMore }, second, {
      request,
      query,
    });
  }

  /** @param lastPart of its last record */
  private pageOf<Shown extends ShownDelivery>(
    {
      records,
      hasMore,
      completeUntil: completeNow,
    }: Pick<FoundDeliveries<Shown>, 'records' | 'hasMore' | 'completeUntil'>,
    lastPart: Pick<Part, 'isWaiting'>,
    { request, query: { startAt, after } }: { readonly request: DeliveryPageRequest; readonly query: WalkQuery },
  ): DeliveryPage<Shown> {
    // What is known as complete since the first page may have come after that was read.
    const completeUntil = after?.completeUntil === undefined ? completeNow : earlier(after.completeUntil, completeNow);
    const last = hasMore ? records.at(-1) : undefined;
    if (last === undefined) return { records, nextPageState: null, completeUntil };
    const position = { ...positionOf(last, lastPart), startAt, completeUntil };
    return { records, nextPageState: this.pageStates.seal(position, walkOf(request)), completeUntil };
  }

  private queryOf(request: DeliveryPageRequest): WalkQuery {
    const { caller, filters, limit, pageState } = request;
    const after = pageState === undefined ? undefined : this.pageStates.open(pageState, walkOf(request));
    return {
      ...sentFilters(filters),
      ...visibilityFilter(caller),
      fleetId: caller.fleetId,
      // Clamped once: a walk neither loses what grows too old while it continues, nor shows more on its later pages.
      startAt: after?.startAt ?? clampStart(filters.startAt ?? 0, this.nowMs()),
      endAt: filters.endAt ?? Number.MAX_SAFE_INTEGER,
      limit,
      ...(after === undefined ? {} : { after }),
    };
  }
}

function positionOf(
  { firstAttemptAt, createdAt, eventId, series }: ShownDelivery,
  { isWaiting }: Pick<Part, 'isWaiting'>,
): DeliveryWalkPosition {
  if (isWaiting) return { firstAttemptAt: createdAt, eventId, series, isWaiting };
  return { firstAttemptAt: firstAttemptAt ?? createdAt, eventId, series };
}

/** null, which is not known, if one of them is. */
function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.min(one, other);
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
