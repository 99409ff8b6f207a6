/**
 * SQL by hand: row-level security goes by a setting of the transaction, which TypeORM has no words for. Without the setting a
 * tenant table shows no row and takes none (docs/decisions/0056-row-level-security.md).
 */
import type { ClientBase } from 'pg';
import type { DataSource, EntityManager } from 'typeorm';
import { storableText } from './database-errors.js';
import type { FleetTurns } from './fleet-turns.js';

/** In place of a fleet's id: every fleet. No fleet can have it, since ids have letters, digits and `. _ -` only. */
export const ALL_FLEETS = '*';

/** Beside the data sources, in which TypeORM has no place for them. */
const turnsOf = new WeakMap<DataSource, FleetTurns>();

/** From now on the transactions of a fleet on this data source take turns. Those of all fleets never wait for one. */
export function takeTurns(dataSource: DataSource, turns: FleetTurns): void {
  turnsOf.set(dataSource, turns);
}

/** A transaction that sees and writes the rows of this fleet only. Inside another one, that one is as before afterwards. */
export function inFleet<T>(
  manager: EntityManager,
  fleetId: string,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  const isNested = manager.queryRunner?.isTransactionActive === true;
  const transaction = (): Promise<T> =>
    manager.transaction(async (inner) => {
      const [row] = await inner.query<{ before: string | null }[]>(
        `SELECT current_setting('waypost.fleet', true) AS before, set_config('waypost.fleet', $1, true)`,
        [storableText(fleetId)],
      );
      const result = await work(inner);
      if (isNested) await inner.query(`SELECT set_config('waypost.fleet', $1, true)`, [row?.before ?? '']);
      return result;
    });
  // A nested one has the turn of the outer, on whose connection it is.
  const turns = isNested || fleetId === ALL_FLEETS ? undefined : turnsOf.get(manager.dataSource);
  return turns === undefined ? transaction() : turns.run(fleetId, transaction);
}

/** For what belongs to no request of a fleet: keys that are looked up, copies of logs, old rows, operators. */
export function inAllFleets<T>(manager: EntityManager, work: (manager: EntityManager) => Promise<T>): Promise<T> {
  return inFleet(manager, ALL_FLEETS, work);
}

/** Holds until the connection ends or is set again. */
export async function setFleetOfConnection(client: ClientBase, fleetId: string): Promise<void> {
  await client.query(`SELECT set_config('waypost.fleet', $1, false)`, [storableText(fleetId)]);
}
