/**
 * Pages of a fleet's resources, oldest first. SQL by hand: a keyset page compares (created_at, id) as one row value, which
 * find options cannot express; it is one range of the index `*_page` of the table.
 */
import type { ObjectLiteral, Repository } from 'typeorm';

/** The position in the order of creation after which a page begins. */
export interface ListPosition {
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly id: string;
}

export interface ListQuery {
  readonly fleetId: string;
  readonly limit: number;
  /** null: from the oldest on. */
  readonly after: ListPosition | null;
  /** Only these; null or absent: all. */
  readonly ids?: readonly string[] | null;
}

export function listPage<Row extends ObjectLiteral>(
  repository: Repository<Row>,
  idProperty: 'id' | 'geofenceId',
  { fleetId, limit, after, ids = null }: ListQuery,
): Promise<Row[]> {
  const id = `resource.${idProperty}`;
  const select = repository
    .createQueryBuilder('resource')
    .where('resource.fleetId = :fleetId', { fleetId })
    .orderBy('resource.createdAt')
    .addOrderBy(id)
    .limit(limit);
  if (ids !== null) select.andWhere(`${id} = ANY (:ids)`, { ids });
  if (after !== null) {
    const position = { createdAt: new Date(after.createdAt), id: after.id };
    select.andWhere(`(resource.createdAt, ${id}) > (:createdAt, :id)`, position);
  }
  return select.getMany();
}
