/**
 * Pages of a fleet's resources in the order of their creation. SQL by hand: a keyset page compares (created_at, id) as one row value, which
 * find options cannot express; it is one range of the index `*_page` of the table.
 */
import type { ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';
import { MAX_PAGE_BYTES } from '@waypost/domain';

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

/** The rows of a page, and whether more follow: beyond the limit or MAX_PAGE_BYTES. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** @param narrow adds the filters of the list; the rows are `resource` */
export async function listPage<Row extends ObjectLiteral>(
  repository: Repository<Row>,
  idProperty: 'id' | 'geofenceId',
  query: ListQuery,
  narrow?: (select: SelectQueryBuilder<Row>) => void,
): Promise<Listed<Row>> {
  const direction = query.order === 'desc' ? 'DESC' : 'ASC';
  const id = `resource.${idProperty}`;
  const inOrder = () =>
    repository.createQueryBuilder('resource').orderBy('resource.createdAt', direction).addOrderBy(id, direction);
  const found = inOrder();
  matching(found, id, query);
  narrow?.(found);
  const sizes = found
    .select(id, 'id')
    .addSelect('resource.createdAt', 'created_at')
    // As text: pg_column_size() is that of compressed values. CAST, as `::text` would be a parameter.
    .addSelect('octet_length(CAST(resource AS text))', 'size')
    .limit(query.limit + 1);
  const page = inOrder()
    .innerJoin(`(${sizedSql(sizes.getQuery(), direction)})`, 'sized', `sized.id = ${id}`)
    .where('sized.place <= :limit AND (sized.bytes <= :maxBytes OR sized.place = 1)')
    .addSelect('sized.found', 'found')
    .setParameters({ ...found.getParameters(), limit: query.limit, maxBytes: MAX_PAGE_BYTES });
  const { entities: rows, raw } = await page.getRawAndEntities<{ found: string }>();
  return { rows, hasMore: Number(raw[0]?.found ?? 0) > rows.length };
}

/** With the bytes up to each row, so that those beyond a page (R-34a) are not sent. */
function sizedSql(sizes: string, direction: 'ASC' | 'DESC'): string {
  return `SELECT id, count(*) OVER () AS found, sum(size) OVER page AS bytes, row_number() OVER page AS place
            FROM (${sizes}) AS sizes
          WINDOW page AS (ORDER BY created_at ${direction}, id ${direction} ROWS UNBOUNDED PRECEDING)`;
}

function matching<Row extends ObjectLiteral>(
  select: SelectQueryBuilder<Row>,
  id: string,
  { fleetId, after, ids = null, order }: ListQuery,
): void {
  select.where('resource.fleetId = :fleetId', { fleetId });
  if (ids !== null) select.andWhere(`${id} = ANY (:ids)`, { ids });
  if (after === null) return;
  const position = { createdAt: new Date(after.createdAt), id: after.id };
  select.andWhere(`(resource.createdAt, ${id}) ${order === 'desc' ? '<' : '>'} (:createdAt, :id)`, position);
}
