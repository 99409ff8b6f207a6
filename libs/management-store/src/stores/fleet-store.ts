import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, MoreThan, type Repository } from 'typeorm';
import { inAllFleets, inFleet } from '@waypost/database';
import { type FleetSettings, isFleetId } from '@waypost/domain';
import { FleetEntity } from '../entities.js';
import { appendToOutbox } from '../outbox/outbox.js';
import { type ExpectedVersions, isExpected, type VersionMismatch } from './expected-versions.js';
import { type FleetLimits, type LimitReached, NO_LIMITS } from './fleet-limits.js';
import { countWritten, positionsOf } from './written-positions.js';

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

/** The fields that an update may replace. */
export type FleetChange = Partial<Pick<FleetSettings, 'name' | 'payloadFormat' | 'routes'>>;

export type ChangeFleetResult =
  | { readonly type: 'changed'; readonly fleet: FleetSettings; readonly outboxIds: readonly string[] }
  /** The stored fleet already has these values: no new version. */
  | { readonly type: 'unchanged'; readonly fleet: FleetSettings }
  | LimitReached
  | VersionMismatch
  | { readonly type: 'not_found' };

export interface FleetUpdate {
  readonly fleetId: string;
  readonly change: FleetChange;
  readonly nowMs: number;
  readonly expected: ExpectedVersions;
  readonly limits: FleetLimits;
}

/**
 * Fleets. A change and its record for the topic `fleet.settings` are one transaction. Expected refusals are values; only
 * errors of the database are thrown.
 */
@Injectable()
export class FleetStore {
  constructor(@InjectRepository(FleetEntity) private readonly fleets: Repository<FleetEntity>) {}

  async create({ fleetId, payloadFormat, nowMs, name = null, routes = false }: NewFleet): Promise<CreateFleetResult> {
    if (!isFleetId(fleetId)) {
      return {
        type: 'invalid',
        message: 'a fleet id is 1 to 128 of A-Z a-z 0-9 . _ - and starts with a letter or digit',
      };
    }
    const times = { createdAt: nowMs, updatedAt: nowMs };
    const fleet: FleetSettings = { fleetId, name, payloadFormat, routes, version: 1, ...times };
    return inFleet(this.fleets.manager, fleetId, async (manager): Promise<CreateFleetResult> => {
      const insert = manager.createQueryBuilder().insert().into(FleetEntity).values(fleet).orIgnore();
      const inserted = await insert.returning('fleet_id').updateEntity(false).execute();
      if (!Array.isArray(inserted.raw) || inserted.raw.length === 0) return { type: 'exists' };
      return { type: 'created', fleet, outboxIds: await appendFleet(manager, fleet, nowMs) };
    });
  }

  find(fleetId: string): Promise<FleetSettings | null> {
    return inFleet(this.fleets.manager, fleetId, (manager) => manager.findOneBy(FleetEntity, { fleetId }));
  }

  /** In the order of their ids, after this one; null: from the first. */
  list({ limit, after }: { readonly limit: number; readonly after: string | null }): Promise<FleetSettings[]> {
    const where = after === null ? {} : { fleetId: MoreThan(after) };
    return inAllFleets(this.fleets.manager, (manager) =>
      manager.find(FleetEntity, { where, order: { fleetId: 'ASC' }, take: limit }),
    );
  }

  count(): Promise<number> {
    return inAllFleets(this.fleets.manager, (manager) => manager.count(FleetEntity));
  }

  update(
    fleetId: string,
    change: FleetChange,
    nowMs: number,
    expected: ExpectedVersions = null,
    limits: FleetLimits = NO_LIMITS,
  ): Promise<ChangeFleetResult> {
    return inFleet(this.fleets.manager, fleetId, (manager) =>
      changeFleet(manager, { fleetId, change, nowMs, expected, limits }),
    );
  }
}

/** What is counted per fleet stays as it is until the caller's transaction ends. */
export function lockFleet(manager: EntityManager, fleetId: string): Promise<FleetSettings | null> {
  return manager.findOne(FleetEntity, { where: { fleetId }, lock: { mode: 'for_no_key_update' } });
}

/** In the caller's transaction. Changes of a fleet queue on its row. */
export async function changeFleet(
  manager: EntityManager,
  { fleetId, change, nowMs, expected, limits }: FleetUpdate,
): Promise<ChangeFleetResult> {
  const current = await lockFleet(manager, fleetId);
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
  const reached = await countWritten(manager, { fleetId, positions: positionsOf(), nowMs }, limits);
  if (reached !== null) return reached;
  const fleet = { ...changed, version: current.version + 1, updatedAt: nowMs };
  await manager.update(FleetEntity, { fleetId }, fleet);
  return { type: 'changed', fleet, outboxIds: await appendFleet(manager, fleet, nowMs) };
}

function appendFleet(manager: EntityManager, fleet: FleetSettings, nowMs: number): Promise<string[]> {
  return appendToOutbox(manager, [{ kind: 'fleet-settings', key: fleet.fleetId, value: fleet }], nowMs);
}
