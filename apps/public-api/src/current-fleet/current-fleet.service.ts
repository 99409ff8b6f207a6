import { Inject, Injectable } from '@nestjs/common';
import type { FleetSettings } from '@waypost/domain';
import { type ExpectedVersions, type FleetChange, FleetStore } from '@waypost/management-store';
import { CLOCK, CONFIG } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { type Versioned, versionMismatch } from '../endpoint/entity-tag.js';
import { tooMany } from '../errors/limit-reached.js';
import { type FleetDto, toFleet, type UpdateFleetDto } from '../fleets/fleets.dto.js';
import { noSuchFleet } from '../fleets/fleets.errors.js';
import { PublishedChanges } from '../outbox/published-changes.js';

/** The caller's own fleet: its defaults, and whether it has routes and stops. */
@Injectable()
export class CurrentFleetService {
  constructor(
    private readonly fleets: FleetStore,
    private readonly published: PublishedChanges,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'http'>,
  ) {}

  async get(fleetId: string): Promise<Versioned<FleetDto>> {
    const stored = await this.fleets.find(fleetId);
    if (stored === null) throw noSuchFleet();
    return toVersioned(stored);
  }

  async update(
    fleetId: string,
    { name, payloadFormat, routes }: UpdateFleetDto,
    expected: ExpectedVersions,
  ): Promise<Versioned<FleetDto>> {
    const change: FleetChange = {
      ...(name === undefined ? {} : { name }),
      ...(payloadFormat === undefined ? {} : { payloadFormat }),
      ...(routes === undefined ? {} : { routes }),
    };
    const result = await this.fleets.update(fleetId, change, this.nowMs(), expected, this.config.http.fleetLimits);
    if (result.type === 'not_found') throw noSuchFleet();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    if (result.type === 'limit_reached') throw tooMany(result);
    if (result.type === 'changed') await this.published.wait(result.outboxIds);
    return toVersioned(result.fleet);
  }
}

function toVersioned(stored: FleetSettings): Versioned<FleetDto> {
  return { resource: toFleet(stored), version: stored.version };
}
