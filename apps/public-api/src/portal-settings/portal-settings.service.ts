import { Inject, Injectable } from '@nestjs/common';
import {
  type ExpectedVersions,
  type FleetPortal,
  type FleetPortalChange,
  FleetPortalStore,
} from '@waypost/management-store';
import { CLOCK } from '@waypost/platform';
import { type Versioned, versionMismatch } from '../endpoint/entity-tag.js';
import { noSuchFleet } from '../fleets/fleets.errors.js';
import { type FleetPortalDto, toFleetPortal, type UpdateFleetPortalDto } from './portal-settings.dto.js';

/** How the portal of the caller's fleet looks, and which pages may frame it. */
@Injectable()
export class PortalSettingsService {
  constructor(
    private readonly portals: FleetPortalStore,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  async get(fleetId: string): Promise<Versioned<FleetPortalDto>> {
    const stored = await this.portals.of(fleetId, this.nowMs());
    if (stored === null) throw noSuchFleet();
    return toVersioned(stored);
  }

  async update(
    fleetId: string,
    { frameAncestors, brandColor, logoUrl, colorScheme }: UpdateFleetPortalDto,
    expected: ExpectedVersions,
  ): Promise<Versioned<FleetPortalDto>> {
    const change: FleetPortalChange = {
      ...(frameAncestors === undefined ? {} : { frameAncestors }),
      ...(brandColor === undefined ? {} : { brandColor }),
      ...(logoUrl === undefined ? {} : { logoUrl }),
      ...(colorScheme === undefined ? {} : { colorScheme }),
    };
    const result = await this.portals.update(fleetId, change, this.nowMs(), expected);
    if (result.type === 'not_found') throw noSuchFleet();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    return toVersioned(result.portal);
  }
}

function toVersioned(stored: FleetPortal): Versioned<FleetPortalDto> {
  return { resource: toFleetPortal(stored), version: stored.version };
}
