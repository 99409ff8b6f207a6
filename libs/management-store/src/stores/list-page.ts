/**
 * Pages of a fleet's resources in the order of their creation. SQL by hand: a keyset page compares (created_at, id) as one row value, which
 * find options cannot express; it is one range of the index `*_page` of the table.
 */
import type { ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';

/** The position in the order of creation after which a page begins. */
export interface ListPosition {
  readonly createdAt: number;
  readonly id: string;
}

export interface ListQuery {
  readonly fleetId: string;
  readonly limit: number;
  /** null: from the start. */
  readonly after: ListPosition | null;
  /** Only these; null or absent: all. */
  readonly ids?: readonly string[] | null;
  /** Default: oldest first. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** @param narrow adds the filters of the list; the rows are `resource` */
export function listPage<Row extends ObjectLiteral>(
  repository: Repository<Row>,
  idProperty: 'id' | 'geofenceId',
  { fleetId, limit, after, ids = null, order = 'asc' }: ListQuery,
  narrow?: (select: SelectQueryBuilder<Row>) => void,
): Promise<Row[]> {
  const direction = order === 'asc' ? 'ASC' : 'DESC';
  const id = `resource.${idProperty}`;
  const select = repository
    .createQueryBuilder('resource')
    .where('resource.fleetId = :fleetId', { fleetId })
    .orderBy('resource.createdAt', direction)
    .addOrderBy(id, direction)
    .limit(limit);
  if (ids !== null) select.andWhere(`${id} = ANY (:ids)`, { ids });
  if (after !== null) {
    const position = { createdAt: new Date(after.createdAt), id: after.id };
    select.andWhere(`(resource.createdAt, ${id}) ${order === 'asc' ? '>' : '<'} (:createdAt, :id)`, position);
  }
  narrow?.(select);
  return select.getMany();
}
