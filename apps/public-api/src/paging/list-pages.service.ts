import { Injectable } from '@nestjs/common';
import type { DeliveryPosition } from '@waypost/domain';
import type { ListPosition } from '@waypost/management-store';
import { DeliveryPageStates, type Walk } from './page-states.js';
import type { ListQueryDto } from './paging.dto.js';

export interface ListPage<T> {
  readonly data: T[];
  /** null: this is the last page. */
  readonly nextPageState: string | null;
}

/** How one list is read and walked. `Position`: of an item, in the order of the list. */
export interface ListSource<T, Position> {
  /** At most `limit` items after the position; null: from the start. */
  readonly find: (limit: number, after: Position | null) => Promise<readonly T[]>;
  readonly toToken: (item: T) => DeliveryPosition;
  readonly fromToken: (position: DeliveryPosition) => Position;
}

/** Reads pages of lists. */
@Injectable()
export class ListPages {
  constructor(private readonly pageStates: DeliveryPageStates) {}

  /** A list in the order of creation. */
  byCreation<T>(
    walk: Pick<Walk, 'fleetId' | 'path'> & Partial<Pick<Walk, 'filters'>>,
    query: ListQueryDto,
    find: (query: { fleetId: string; limit: number; after: ListPosition | null }) => Promise<readonly T[]>,
    positionOf: (item: T) => ListPosition,
  ): Promise<ListPage<T>> {
    return this.read({ filters: {}, ...walk }, query, {
      find: (limit, after: ListPosition | null) => find({ fleetId: walk.fleetId, limit, after }),
      toToken: (item) => {
        const { createdAt, id } = positionOf(item);
        return { firstAttemptAt: createdAt, eventId: id, series: 0 };
      },
      fromToken: ({ firstAttemptAt, eventId }) => ({ createdAt: firstAttemptAt, id: eventId }),
    });
  }

  /** Page tokens hold positions of deliveries; `source` says how those of this list fit in. */
  async read<T, Position>(
    walk: Walk,
    { limit, pageState }: ListQueryDto,
    { find, toToken, fromToken }: ListSource<T, Position>,
  ): Promise<ListPage<T>> {
    const after = pageState === undefined ? null : fromToken(this.pageStates.open(pageState, walk));
    const found = await find(limit + 1, after);
    const data = found.slice(0, limit);
    const last = found.length > limit ? data.at(-1) : undefined;
    return { data, nextPageState: last === undefined ? null : this.pageStates.seal(toToken(last), walk) };
  }
}
