/**
 * SQL by hand: row-level security goes by a setting of the transaction, which TypeORM has no words for. Without the setting a
 * tenant table shows no row and takes none (docs/decisions/0056-row-level-security.md).
 */
import type { ClientBase } from 'pg';
import type { EntityManager } from 'typeorm';
import { storableText } from './database-errors.js';

/** In place of a fleet's id: every fleet. No fleet can have it, since ids have letters, digits and `. _ -` only. */
export const ALL_FLEETS = '*';

/** A transaction that sees and writes the rows of this fleet only. Inside another one, that one is as before afterwards. */
export function inFleet<T>(
  manager: EntityManager,
  fleetId: string,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  const isNested = manager.queryRunner?.isTransactionActive === true;
  return manager.transaction(async (inner) => {
    const [row] = await inner.query<{ before: string | null }[]>(
      `SELECT current_setting('waypost.fleet', true) AS before, set_config('waypost.fleet', $1, true)`,
      [storableText(fleetId)],
    );
    const result = await work(inner);
    if (isNested) await inner.query(`SELECT set_config('waypost.fleet', $1, true)`, [row?.before ?? '']);
    return result;
  });
}

/** For what belongs to no request of a fleet: keys that are looked up, copies of logs, old rows, operators. */
export function inAllFleets<T>(manager: EntityManager, work: (manager: EntityManager) => Promise<T>): Promise<T> {
  return inFleet(manager, ALL_FLEETS, work);
}

/** Holds until the connection ends or is set again. */
export async function setFleetOfConnection(client: ClientBase, fleetId: string): Promise<void> {
  await client.query(`SELECT set_config('waypost.fleet', $1, false)`, [storableText(fleetId)]);
}
