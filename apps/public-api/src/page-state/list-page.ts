import type { ListPosition } from '@waypost/management-store';
import type { Request } from 'express';
import type { PageStates } from './page-states.js';
import { readListPaging } from './paging.js';

/** A list in the order of creation, and who asks for a page of it. */
export interface ListRequest {
  /** Its query has `limit` and `pageState` and nothing else. */
  readonly request: Request;
  readonly path: string;
  readonly pageStates: PageStates;
  readonly fleetId: string;
}

export interface ListQuery {
  readonly fleetId: string;
  readonly limit: number;
  /** null: from the oldest on. */
  readonly after: ListPosition | null;
}

export interface ListPage<T> {
  readonly page: readonly T[];
  readonly nextPageState: string | null;
}

/** Reads one page by `find`. @throws ApiError 400 naming what is wrong with the query */
export async function readListPage<T extends ListPosition>(
  { request, path, pageStates, fleetId }: ListRequest,
  find: (query: ListQuery) => Promise<readonly T[]>,
): Promise<ListPage<T>> {
  const { limit, pageState } = readListPaging(request);
  const walk = { fleetId, path, filters: {} };
  const after = pageState === undefined ? null : positionIn(pageStates, pageState, walk);
  const found = await find({ fleetId, limit: limit + 1, after });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  if (last === undefined) return { page, nextPageState: null };
  // Page tokens speak of deliveries; a place in a list has the same shape.
  const position = { firstAttemptAt: last.createdAt, eventId: last.id, series: 0 };
  return { page, nextPageState: pageStates.seal(position, walk) };
}

function positionIn(pageStates: PageStates, token: string, walk: Parameters<PageStates['open']>[1]): ListPosition {
  const { firstAttemptAt, eventId } = pageStates.open(token, walk);
  return { createdAt: firstAttemptAt, id: eventId };
}
