import type { FleetSettings } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import { type ExpectedVersions, isExpected, type VersionMismatch } from './expected-versions.js';
import { FleetEntity } from './fleet.entity.js';
import { appendToOutbox } from './outbox.js';

export interface NewFleet {
  readonly fleetId: string;
  readonly payloadFormat: 'v1' | 'legacy-v1';
  readonly nowMs: number;
  readonly name?: string | null;
  /** Whether routes and stops are made for it. Default: no. */
  readonly routes?: boolean;
}

export type CreateFleetResult =
  | { readonly type: 'created'; readonly fleet: FleetSettings; readonly outboxIds: readonly string[] }
  | { readonly type: 'exists' }
  | { readonly type: 'invalid'; readonly message: string };

/** What an update may replace. */
export type FleetChange = Partial<Pick<FleetSettings, 'name' | 'payloadFormat' | 'routes'>>;

export type ChangeFleetResult =
  | { readonly type: 'changed'; readonly fleet: FleetSettings; readonly outboxIds: readonly string[] }
  /** It is already so: no new version. */
  | { readonly type: 'unchanged'; readonly fleet: FleetSettings }
  | VersionMismatch
  | { readonly type: 'not_found' };

/**
 * Fleets. Every change and its record for the topic `fleet.settings` are one transaction. Expected refusals are values;
 * what is thrown is the database's.
 */
export interface FleetStore {
  createFleet(input: NewFleet): Promise<CreateFleetResult>;
  findFleet(fleetId: string): Promise<FleetSettings | null>;
  updateFleet(
    fleetId: string,
    change: FleetChange,
    nowMs: number,
    expected?: ExpectedVersions,
  ): Promise<ChangeFleetResult>;
}

/** Ids become parts of Kafka keys and of event ids, joined by a control character: none may hold one. */
const FLEET_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function createFleetStore(database: EntityManager): FleetStore {
  return {
    createFleet: (input) => createFleet(database, input),
    findFleet: (fleetId) => database.findOneBy(FleetEntity, { fleetId }),
    updateFleet: (fleetId, change, nowMs, expected = null) =>
      database.transaction((manager) => changeFleet(manager, { fleetId, change, nowMs, expected })),
  };
}

export interface FleetUpdate {
  readonly fleetId: string;
  readonly change: FleetChange;
  readonly nowMs: number;
  readonly expected: ExpectedVersions;
}

/** In the caller's transaction. Changes of a fleet queue on its row; subscriptions of it may be made meanwhile. */
export async function changeFleet(
  manager: EntityManager,
  { fleetId, change, nowMs, expected }: FleetUpdate,
): Promise<ChangeFleetResult> {
  const current: FleetSettings | null = await manager.findOne(FleetEntity, {
    where: { fleetId },
    lock: { mode: 'for_no_key_update' },
  });
  if (current === null) return { type: 'not_found' };
  if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
  const changed: FleetSettings = { ...current, ...change };
  if (
    changed.name === current.name &&
    changed.payloadFormat === current.payloadFormat &&
    changed.routes === current.routes
  ) {
    return { type: 'unchanged', fleet: changed };
  }
  const fleet = { ...changed, version: current.version + 1, updatedAt: nowMs };
  await manager.update(FleetEntity, { fleetId }, fleet);
  return { type: 'changed', fleet, outboxIds: await appendFleet(manager, fleet, nowMs) };
}

async function createFleet(
  database: EntityManager,
  { fleetId, payloadFormat, nowMs, name = null, routes = false }: NewFleet,
): Promise<CreateFleetResult> {
  if (!FLEET_ID.test(fleetId)) {
    return {
      type: 'invalid',
      message: 'a fleet id is 1 to 128 of A-Z a-z 0-9 . _ - and starts with a letter or digit',
    };
  }
  const times = { createdAt: nowMs, updatedAt: nowMs };
  const fleet: FleetSettings = { fleetId, name, payloadFormat, routes, version: 1, ...times };
  return database.transaction(async (manager): Promise<CreateFleetResult> => {
    const insert = manager.createQueryBuilder().insert().into(FleetEntity).values(fleet).orIgnore();
    const inserted = await insert.returning('fleet_id').updateEntity(false).execute();
    if (!Array.isArray(inserted.raw) || inserted.raw.length === 0) return { type: 'exists' };
    return { type: 'created', fleet, outboxIds: await appendFleet(manager, fleet, nowMs) };
  });
}

function appendFleet(manager: EntityManager, fleet: FleetSettings, nowMs: number): Promise<string[]> {
  return appendToOutbox(manager, [{ kind: 'fleet-settings', key: fleet.fleetId, value: fleet }], nowMs);
}
