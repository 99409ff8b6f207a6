import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { FleetEntity, FleetPortalEntity } from './entities.js';
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
  /** Epoch milliseconds. */
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
  async of(fleetId: string, nowMs: number): Promise<FleetPortal | null> {
    const found = await this.portals.findOneBy({ fleetId });
    if (found !== null) return found;
    if (!(await this.portals.manager.existsBy(FleetEntity, { fleetId }))) return null;
    const times = { createdAt: nowMs, updatedAt: nowMs };
    // The rest, the portal id too, is the default of its column.
    const insert = this.portals
      .createQueryBuilder()
      .insert()
      .values({ fleetId, ...times });
    await insert.orIgnore().updateEntity(false).execute();
    return this.portals.findOneByOrFail({ fleetId });
  }

  findByPortalId(portalId: string): Promise<FleetPortal | null> {
    return this.portals.findOneBy({ portalId });
  }

  async update(
    fleetId: string,
    change: FleetPortalChange,
    nowMs: number,
    expected: ExpectedVersions = null,
  ): Promise<ChangeFleetPortalResult> {
    if ((await this.of(fleetId, nowMs)) === null) return { type: 'not_found' };
    return this.portals.manager.transaction(async (manager): Promise<ChangeFleetPortalResult> => {
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
