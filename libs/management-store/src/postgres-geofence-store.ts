import { isDeepStrictEqual } from 'node:util';
import { type Geofence, geofenceKey } from '@waypost/domain';
import type { EntityManager } from 'typeorm';
import { type ExpectedVersions, isExpected } from './expected-versions.js';
import { FleetEntity } from './fleet.entity.js';
import { GeofenceEntity } from './geofence.entity.js';
import {
  type ChangeGeofenceResult,
  type CreateGeofenceResult,
  type DeleteGeofenceResult,
  type GeofenceChange,
  type GeofenceQuery,
  type GeofenceRef,
  type GeofenceStore,
  MAX_GEOFENCES,
  type NewGeofence,
} from './geofence-store.js';
import { appendToOutbox } from './outbox.js';

export function createGeofenceStore(database: EntityManager): GeofenceStore {
  return {
    create: (draft, nowMs) => database.transaction((manager) => createGeofence(manager, draft, nowMs)),
    list: (query) => listGeofences(database, query),
    get: ({ fleetId, geofenceId }) => database.findOneBy(GeofenceEntity, { fleetId, geofenceId }),
    update: (ref, change, nowMs, expected = null) =>
      database.transaction((manager) => updateGeofence(manager, ref, { change, nowMs, expected })),
    delete: (ref, nowMs, expected = null) =>
      database.transaction((manager) => deleteGeofence(manager, ref, nowMs, expected)),
  };
}

/** The lock on the fleet makes the bound exact. */
async function createGeofence(
  manager: EntityManager,
  draft: NewGeofence,
  nowMs: number,
): Promise<CreateGeofenceResult> {
  const { fleetId } = draft;
  const fleet = await manager.findOne(FleetEntity, { where: { fleetId }, lock: { mode: 'for_no_key_update' } });
  if (fleet === null) return { type: 'fleet_not_found' };
  if ((await manager.countBy(GeofenceEntity, { fleetId })) >= MAX_GEOFENCES) return { type: 'too_many' };
  const geofence: Geofence = { ...draft, version: 1, createdAt: nowMs, updatedAt: nowMs };
  await manager.insert(GeofenceEntity, geofence);
  return { type: 'created', geofence, outboxIds: await appendVersion(manager, geofence, nowMs) };
}

async function updateGeofence(
  manager: EntityManager,
  ref: GeofenceRef,
  { change, nowMs, expected }: { change: GeofenceChange; nowMs: number; expected: ExpectedVersions },
): Promise<ChangeGeofenceResult> {
  const current = await lockGeofence(manager, ref);
  if (current === null) return { type: 'not_found' };
  if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
  const changed: Geofence = { ...current, ...change };
  if (isDeepStrictEqual(changed, { ...current })) return { type: 'unchanged', geofence: changed };
  const geofence = { ...changed, version: current.version + 1, updatedAt: nowMs };
  await manager.update(GeofenceEntity, { geofenceId: ref.geofenceId }, geofence);
  return { type: 'changed', geofence, outboxIds: await appendVersion(manager, geofence, nowMs) };
}

async function deleteGeofence(
  manager: EntityManager,
  ref: GeofenceRef,
  nowMs: number,
  expected: ExpectedVersions,
): Promise<DeleteGeofenceResult> {
  const current = await lockGeofence(manager, ref);
  if (current === null) return { type: 'not_found' };
  if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
  await manager.delete(GeofenceEntity, { geofenceId: ref.geofenceId });
  const tombstone = { kind: 'geofence', key: geofenceKey(ref), value: null } as const;
  return { type: 'deleted', outboxIds: await appendToOutbox(manager, [tombstone], nowMs) };
}

function appendVersion(manager: EntityManager, geofence: Geofence, nowMs: number): Promise<string[]> {
  return appendToOutbox(manager, [{ kind: 'geofence', key: geofenceKey(geofence), value: geofence }], nowMs);
}

/** Nobody else changes it before this transaction ends: versions, and their outbox rows, stay in order. */
function lockGeofence(manager: EntityManager, { fleetId, geofenceId }: GeofenceRef): Promise<Geofence | null> {
  return manager.findOne(GeofenceEntity, { where: { fleetId, geofenceId }, lock: { mode: 'pessimistic_write' } });
}

function listGeofences(database: EntityManager, { fleetId, limit, after }: GeofenceQuery): Promise<Geofence[]> {
  const select = database
    .createQueryBuilder(GeofenceEntity, 'g')
    .where('g.fleet_id = :fleetId', { fleetId })
    .orderBy('g.created_at')
    .addOrderBy('g.geofence_id')
    .limit(limit);
  if (after !== null) {
    const { createdAt, id } = after;
    select.andWhere('(g.created_at, g.geofence_id) > (:createdAt, :id)', { createdAt: new Date(createdAt), id });
  }
  return select.getMany();
}
