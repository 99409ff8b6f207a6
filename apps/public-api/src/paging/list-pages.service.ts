import { Injectable } from '@nestjs/common';
import type { Listed, ListPosition } from '@waypost/management-store';
import { ListPageStates, type Walk } from './page-states.js';
import type { ListQueryDto } from './paging.dto.js';

export interface ListPage<T> {
  readonly data: T[];
  /** null: this is the last page. */
  readonly nextPageState: string | null;
}

/** How one list is read and walked. `Position`: of an item, in the order of the list, as JSON. */
export interface ListSource<T, Position> {
  /** At most `limit` items after the position; null: from the start. */
  readonly find: (limit: number, after: Position | null) => Promise<Listed<T>>;
  readonly positionOf: (item: T) => Position;
}

@Injectable()
export class ListPagesService {
  constructor(private readonly pageStates: ListPageStates) {}

  byCreation<T>(
    walk: Pick<Walk, 'fleetId' | 'path'> & Partial<Pick<Walk, 'filters'>>,
    query: ListQueryDto,
    find: (query: { fleetId: string; limit: number; after: ListPosition | null }) => Promise<Listed<T>>,
    positionOf: (item: T) => ListPosition,
  ): Promise<ListPage<T>> {
    return this.read({ filters: {}, ...walk }, query, {
      find: (limit, after: ListPosition | null) => find({ fleetId: walk.fleetId, limit, after }),
      positionOf: (item) => {
        const { createdAt, id } = positionOf(item);
        return { createdAt, id };
      },
    });
  }

  async read<T, Position>(
    walk: Walk,
    { limit, pageState }: ListQueryDto,
    { find, positionOf }: ListSource<T, Position>,
  ): Promise<ListPage<T>> {
    // A token that opens is of this list: nothing else seals for its path.
    const after = pageState === undefined ? null : (this.pageStates.open(pageState, walk) as Position);
    const { rows, hasMore } = await find(limit, after);
    const data = [...rows];
    const last = hasMore ? data.at(-1) : undefined;
    return { data, nextPageState: last === undefined ? null : this.pageStates.seal(positionOf(last), walk) };
  }
}

/** A page of rows that are all small: `find` gets one more than are shown, to know whether it is the last. */
export async function upTo<T>(limit: number, find: (limit: number) => Promise<readonly T[]>): Promise<Listed<T>> {
  const found = await find(limit + 1);
  return { rows: found.slice(0, limit), hasMore: found.length > limit };
}
