import { type PathHistory, type PathPoint, type PathWalkPosition, RETENTION_MS } from '@waypost/domain';
import type { PageStates } from '../page-state/page-states.js';

export const PATHS_PATH = '/public/v1/paths';

/** What a caller asks of the paths; times are epoch ms, the window is on the event time. */
export type PathFilters = {
  readonly startAt: number;
  readonly endAt: number;
  /** Absent: every device of the fleet. */
  readonly deviceIds?: readonly string[] | undefined;
};

export interface PathPageRequest {
  readonly fleetId: string;
  readonly filters: PathFilters;
  /** Of points. */
  readonly limit: number;
  readonly pageState: string | undefined;
}

export interface PathPage {
  /** Device by device, each in event-time order. */
  readonly points: readonly PathPoint[];
  /** null: this was the last page. */
  readonly nextPageState: string | null;
}

export interface PathPagesDeps {
  readonly paths: PathHistory;
  readonly pageStates: PageStates<PathWalkPosition>;
  readonly now: () => number;
}

export interface PathPages {
  /** @throws ApiError 400 for a page token that is not for this walk */
  read(request: PathPageRequest): Promise<PathPage>;
}

export function createPathPages({ paths, pageStates, now }: PathPagesDeps): PathPages {
  return {
    async read({ fleetId, filters, limit, pageState }) {
      const walk = { fleetId, path: PATHS_PATH, filters };
      const after = pageState === undefined ? undefined : pageStates.open(pageState, walk);
      // Clamped once: every device of a walk is shown from the same moment on, however long the walk takes.
      const startAt = after?.startAt ?? Math.max(filters.startAt, now() - RETENTION_MS);
      const query = { ...filters, fleetId, startAt, limit: limit + 1, after };
      const found = filters.endAt <= startAt ? [] : await paths.findPoints(query);
      const points = found.slice(0, limit);
      const last = found.length > limit ? points.at(-1) : undefined;
      if (last === undefined) return { points, nextPageState: null };
      const { deviceId, eventTime } = last;
      return { points, nextPageState: pageStates.seal({ startAt, deviceId, eventTime }, walk) };
    },
  };
}
