import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import { inAllFleets, inFleet } from '@waypost/database';
import { FleetEntity, FleetPortalEntity } from '../entities.js';
import { type ExpectedVersions, isExpected, type VersionMismatch } from './expected-versions.js';

export const COLOR_SCHEMES = ['auto', 'light', 'dark'] as const;

/** How the portal of a fleet looks, and which pages may frame it. */
export interface FleetPortal {
  readonly fleetId: string;
  readonly portalId: string;
  /** Origins. Empty: none. */
  readonly frameAncestors: readonly string[];
  /** `#rrggbb` */
  readonly brandColor: string | null;
  readonly logoUrl: string | null;
  readonly colorScheme: string;
  readonly version: number;
  readonly updatedAt: number;
}

export type FleetPortalChange = Partial<Pick<FleetPortal, 'frameAncestors' | 'brandColor' | 'logoUrl' | 'colorScheme'>>;

export type ChangeFleetPortalResult =
  | { readonly type: 'changed'; readonly portal: FleetPortal }
  /** It already has these values: no new version. */
  | { readonly type: 'unchanged'; readonly portal: FleetPortal }
  | VersionMismatch
  | { readonly type: 'not_found' };

/** Portals of fleets. Each fleet has one, with a row from the first time that it is asked for. */
@Injectable()
export class FleetPortalStore {
  constructor(@InjectRepository(FleetPortalEntity) private readonly portals: Repository<FleetPortalEntity>) {}

  /** null: there is no such fleet. */
  of(fleetId: string, nowMs: number): Promise<FleetPortal | null> {
    return inFleet(this.portals.manager, fleetId, (manager) => portalOf(manager, fleetId, nowMs));
  }

  findByPortalId(portalId: string): Promise<FleetPortal | null> {
    return inAllFleets(this.portals.manager, (manager) => manager.findOneBy(FleetPortalEntity, { portalId }));
  }

  update(
    fleetId: string,
    change: FleetPortalChange,
    nowMs: number,
    expected: ExpectedVersions = null,
  ): Promise<ChangeFleetPortalResult> {
    return inFleet(this.portals.manager, fleetId, async (manager): Promise<ChangeFleetPortalResult> => {
      if ((await portalOf(manager, fleetId, nowMs)) === null) return { type: 'not_found' };
      const lock = { mode: 'pessimistic_write' } as const;
      const current: FleetPortal = await manager.findOneOrFail(FleetPortalEntity, { where: { fleetId }, lock });
      if (!isExpected(current.version, expected)) return { type: 'version_mismatch', version: current.version };
      const changed = { ...current, ...change };
      if (JSON.stringify(changed) === JSON.stringify(current)) return { type: 'unchanged', portal: current };
      const portal = { ...changed, version: current.version + 1, updatedAt: nowMs };
      await manager.update(FleetPortalEntity, { fleetId }, portal);
      return { type: 'changed', portal };
    });
  }
}

async function portalOf(manager: EntityManager, fleetId: string, nowMs: number): Promise<FleetPortal | null> {
  const found = await manager.findOneBy(FleetPortalEntity, { fleetId });
  if (found !== null) return found;
  if (!(await manager.existsBy(FleetEntity, { fleetId }))) return null;
  // The rest, the portal id too, is the default of its column.
  const row = { fleetId, createdAt: nowMs, updatedAt: nowMs };
  const insert = manager.createQueryBuilder().insert().into(FleetPortalEntity).values(row);
  await insert.orIgnore().updateEntity(false).execute();
  return manager.findOneByOrFail(FleetPortalEntity, { fleetId });
}
