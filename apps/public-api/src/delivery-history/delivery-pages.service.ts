import { Inject, Injectable } from '@nestjs/common';
import { clampStart, type DeliveryHistory, type DeliveryQuery, type DeliveryRecord } from '@waypost/domain';
import { CLOCK } from '@waypost/platform';
import { type Sight, sightFilter } from '../auth/caller.js';
import { DELIVERY_HISTORY } from '../database/api-database.module.js';
import { PAGE_STATES, type PageStates } from '../paging/page-states.js';

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
};

export interface DeliveryPageRequest {
  /** Whose sight the page keeps to. */
  readonly caller: Sight;
  /** The resource that is walked; a page token of another is refused. */
  readonly path: string;
  readonly filters: DeliveryFilters;
  readonly limit: number;
  readonly pageState?: string | undefined;
}

export interface DeliveryPage {
  /** In the order of the query. */
  readonly records: readonly DeliveryRecord[];
  /** null: this is the last page. */
  readonly nextPageState: string | null;
  /** R-33; null: not known. */
  readonly completeUntil: number | null;
}

/** Pages of the delivery history, for both versions of the API. */
@Injectable()
export class DeliveryPages {
  constructor(
    @Inject(DELIVERY_HISTORY) private readonly history: DeliveryHistory,
    @Inject(PAGE_STATES) private readonly pageStates: PageStates,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  /** @throws ApiError 400 for a page token of another walk */
  async read({ caller, path, filters, limit, pageState }: DeliveryPageRequest): Promise<DeliveryPage> {
    const { fleetId } = caller;
    const walk = { fleetId, path, filters: { ...filters, ...sightFilter(caller) } };
    const after = pageState === undefined ? undefined : this.pageStates.open(pageState, walk);
    const startAt = filters.startAt ?? 0;
    const query: DeliveryQuery = {
      ...given(filters),
      ...sightFilter(caller),
      fleetId,
      // Only the first page is clamped: a walk must not lose records that grow too old while it goes on.
      startAt: after === undefined ? clampStart(startAt, this.now()) : startAt,
      endAt: filters.endAt ?? Number.MAX_SAFE_INTEGER,
      limit,
      ...(after === undefined ? {} : { after }),
    };
    const { records, hasMore, completeUntil } = await this.history.findDeliveries(query);
    const last = hasMore ? records.at(-1) : undefined;
    return { records, nextPageState: last === undefined ? null : this.pageStates.seal(last, walk), completeUntil };
  }
}

/** The filters that were sent; the others are absent, not undefined. */
function given({ eventTypes, deviceId, subscriptionId, eventId, statusCode, status, order }: DeliveryFilters) {
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
