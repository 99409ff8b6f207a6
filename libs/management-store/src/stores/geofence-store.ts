import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { inFleet } from '@waypost/database';
import { type Geofence, geofenceKey } from '@waypost/domain';
import { GeofenceEntity } from '../entities.js';
import { appendToOutbox } from '../outbox/outbox.js';
import { type ExpectedVersions, isExpected, type VersionMismatch } from './expected-versions.js';
import { type FleetLimits, type LimitReached, NO_LIMITS } from './fleet-limits.js';
import { lockFleet } from './fleet-store.js';
import { type Listed, listPage, type ListQuery } from './list-page.js';
import { countWritten, positionsOf } from './written-positions.js';

/** What a caller decides about a new geofence; the store adds version and times. */
export type NewGeofence = Omit<Geofence, 'version' | 'createdAt' | 'updatedAt'>;

/** The fields that an update may replace. Circle and polygon go together: one of them is null. */
export type GeofenceChange = Partial<Pick<Geofence, 'name' | 'circle' | 'polygon'>>;

/** One geofence of one fleet: another fleet's id is not found. */
export type GeofenceRef = Pick<Geofence, 'fleetId' | 'geofenceId'>;

export type CreateGeofenceResult =
  | { readonly type: 'created'; readonly geofence: Geofence; readonly outboxIds: readonly string[] }
  /** The fleet has MAX_GEOFENCES. */
  | { readonly type: 'too_many' }
  | LimitReached
  | { readonly type: 'fleet_not_found' };

export type ChangeGeofenceResult =
  | { readonly type: 'changed'; readonly geofence: Geofence; readonly outboxIds: readonly string[] }
  /** The stored geofence already has these values: no new version. */
  | { readonly type: 'unchanged'; readonly geofence: Geofence }
  | LimitReached
  | VersionMismatch
  | { readonly type: 'not_found' };

export type DeleteGeofenceResult =
  | { readonly type: 'deleted'; readonly outboxIds: readonly string[] }
  | LimitReached
  | VersionMismatch
  | { readonly type: 'not_found' };

/** Every process that applies rules holds the geofences of all fleets in memory, so their number per fleet is bounded. */
export const MAX_GEOFENCES = 10_000;

/**
 * Geofences. Every change and its outbox row are one SQL transaction; `version` counts up. Each locks the fleet
 * before anything else: what the fleet may write (FleetLimits) is counted exactly.
 */
@Injectable()
export class GeofenceStore {
  constructor(@InjectRepository(GeofenceEntity) private readonly geofences: Repository<GeofenceEntity>) {}

  create(draft: NewGeofence, nowMs: number, limits: FleetLimits = NO_LIMITS): Promise<CreateGeofenceResult> {
    const { fleetId } = draft;
    return inFleet(this.geofences.manager, fleetId, async (manager): Promise<CreateGeofenceResult> => {
      if ((await lockFleet(manager, fleetId)) === null) return { type: 'fleet_not_found' };
      if ((await manager.countBy(GeofenceEntity, { fleetId })) >= MAX_GEOFENCES) return { type: 'too_many' };
      const geofence: Geofence = { ...draft, version: 1, createdAt: nowMs, updatedAt: nowMs };
      const reached = await countWritten(manager, { fleetId, positions: positionsOf(geofence), nowMs }, limits);
      if (reached !== null) return reached;
      await manager.insert(GeofenceEntity, geofence);
      return { type: 'created', geofence, outboxIds: await appendVersion(manager, geofence, nowMs) };
    });
  }

  /** Oldest first. */
  list(query: ListQuery): Promise<Listed<Geofence>> {
    return inFleet(this.geofences.manager, query.fleetId, (manager) =>
      listPage(manager.getRepository(GeofenceEntity), 'geofenceId', query),
    );
  }

  get({ fleetId, geofenceId }: GeofenceRef): Promise<Geofence | null> {
    return inFleet(this.geofences.manager, fleetId, (manager) =>
      manager.findOneBy(GeofenceEntity, { fleetId, geofenceId }),
    );
  }

  update(
    ref: GeofenceRef,
    change: GeofenceChange,
    nowMs: number,
    expected: ExpectedVersions = null,
    limits: FleetLimits = NO_LIMITS,
  ): Promise<ChangeGeofenceResult> {
    const { fleetId } = ref;
    return inFleet(this.geofences.manager, fleetId, async (manager): Promise<ChangeGeofenceResult> => {
      await lockFleet(manager, fleetId);
      const current = await lockGeofence(manager, ref);
      if (current === null) return { type: 'not_found' };
      if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
      const changed: Geofence = { ...current, ...change };
      if (isDeepStrictEqual(changed, { ...current })) return { type: 'unchanged', geofence: changed };
      const reached = await countWritten(manager, { fleetId, positions: positionsOf(changed), nowMs }, limits);
      if (reached !== null) return reached;
      const geofence = { ...changed, version: current.version + 1, updatedAt: nowMs };
      await manager.update(GeofenceEntity, { geofenceId: ref.geofenceId }, geofence);
      return { type: 'changed', geofence, outboxIds: await appendVersion(manager, geofence, nowMs) };
    });
  }

  delete(
    ref: GeofenceRef,
    nowMs: number,
    expected: ExpectedVersions = null,
    limits: FleetLimits = NO_LIMITS,
  ): Promise<DeleteGeofenceResult> {
    const { fleetId } = ref;
    return inFleet(this.geofences.manager, fleetId, async (manager): Promise<DeleteGeofenceResult> => {
      await lockFleet(manager, fleetId);
      const current = await lockGeofence(manager, ref);
      if (current === null) return { type: 'not_found' };
      if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
      const reached = await countWritten(manager, { fleetId, positions: positionsOf(), nowMs }, limits);
      if (reached !== null) return reached;
      await manager.delete(GeofenceEntity, { geofenceId: ref.geofenceId });
      const tombstone = { kind: 'geofence', key: geofenceKey(ref), value: null } as const;
      return { type: 'deleted', outboxIds: await appendToOutbox(manager, [tombstone], nowMs) };
    });
  }
}

function appendVersion(manager: EntityManager, geofence: Geofence, nowMs: number): Promise<string[]> {
  return appendToOutbox(manager, [{ kind: 'geofence', key: geofenceKey(geofence), value: geofence }], nowMs);
}

/** No other transaction changes it before this one ends: versions and their outbox rows stay in order. */
function lockGeofence(manager: EntityManager, { fleetId, geofenceId }: GeofenceRef): Promise<Geofence | null> {
  return manager.findOne(GeofenceEntity, { where: { fleetId, geofenceId }, lock: { mode: 'pessimistic_write' } });
}
