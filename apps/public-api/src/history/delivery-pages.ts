import { type DeliveryHistory, type DeliveryQuery, type DeliveryRecord, RETENTION_MS } from '@waypost/domain';
import type { PageStates } from '../page-state/page-states.js';

/** What a caller asks of the history; times are epoch ms, the window is on the first attempt. */
export type DeliveryFilters = {
  readonly startAt?: number | undefined;
  readonly endAt?: number | undefined;
  readonly eventTypes?: readonly string[] | undefined;
  readonly deviceId?: string | undefined;
  readonly subscriptionId?: string | undefined;
  readonly eventId?: string | undefined;
  readonly statusCode?: number | undefined;
  readonly status?: DeliveryRecord['status'] | undefined;
};

export interface DeliveryPageRequest {
  readonly fleetId: string;
  /** The resource that is walked; a page token of another is refused. */
  readonly path: string;
  readonly filters: DeliveryFilters;
  readonly limit: number;
  readonly pageState: string | undefined;
}

export interface DeliveryPage {
  /** Newest last. */
  readonly records: readonly DeliveryRecord[];
  /** null: this was the last page. */
  readonly nextPageState: string | null;
}

export interface DeliveryPagesDeps {
  readonly history: DeliveryHistory;
  readonly pageStates: PageStates;
  readonly now: () => number;
}

export interface DeliveryPages {
  /** @throws ApiError 400 for a page token that is not for this walk */
  read(request: DeliveryPageRequest): Promise<DeliveryPage>;
}

export function createDeliveryPages({ history, pageStates, now }: DeliveryPagesDeps): DeliveryPages {
  return {
    async read({ fleetId, path, filters, limit, pageState }) {
      const walk = { fleetId, path, filters };
      const after = pageState === undefined ? undefined : pageStates.open(pageState, walk);
      const startAt = filters.startAt ?? 0;
      const query: DeliveryQuery = {
        ...given(filters),
        fleetId,
        // Only the first page is clamped: a walk must not lose what grows too old while it goes on.
        startAt: after === undefined ? Math.max(startAt, now() - RETENTION_MS) : startAt,
        endAt: filters.endAt ?? Number.MAX_SAFE_INTEGER,
        limit: limit + 1,
        ...(after === undefined ? {} : { after }),
      };
      const found = query.endAt <= query.startAt ? [] : await history.findDeliveries(query);
      const records = found.slice(0, limit);
      const last = found.length > limit ? records.at(-1) : undefined;
      return { records, nextPageState: last === undefined ? null : pageStates.seal(last, walk) };
    },
  };
}

/** The filters that were given; an absent one is absent, not undefined. */
function given({ eventTypes, deviceId, subscriptionId, eventId, statusCode, status }: DeliveryFilters) {
  return {
    ...(eventTypes === undefined || eventTypes.length === 0 ? {} : { eventTypes }),
    ...(deviceId === undefined ? {} : { deviceId }),
    ...(subscriptionId === undefined ? {} : { subscriptionId }),
    ...(eventId === undefined ? {} : { eventId }),
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(status === undefined ? {} : { status }),
  };
}
