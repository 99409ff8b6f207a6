import { Inject, Injectable } from '@nestjs/common';
import type { Geofence } from '@waypost/domain';
import { type ExpectedVersions, type GeofenceRef, GeofenceStore } from '@waypost/management-store';
import { CLOCK, CONFIG, NEW_ID } from '@waypost/platform';
import type { PublicApiConfig } from '../config.js';
import { type Versioned, versionMismatch } from '../endpoint/entity-tag.js';
import { tooMany } from '../errors/limit-reached.js';
import { noSuchFleet } from '../fleets/fleets.errors.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import { PublishedChanges } from '../outbox/published-changes.js';
import { type ListPage, ListPagesService } from '../paging/list-pages.service.js';
import type { ListQueryDto } from '../paging/paging.dto.js';
import {
  type CreateGeofenceDto,
  type GeofenceDto,
  storedShape,
  toGeofence,
  type UpdateGeofenceDto,
} from './geofences.dto.js';
import { noSuchGeofence, tooManyGeofences } from './geofences.errors.js';

type VersionedGeofence = Versioned<GeofenceDto>;

/** Manages the geofences of one fleet at a time. @throws ApiError for every refusal */
@Injectable()
export class GeofencesService {
  constructor(
    private readonly geofences: GeofenceStore,
    private readonly published: PublishedChanges,
    private readonly pages: ListPagesService,
    @Inject(NEW_ID) private readonly newId: () => string,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(CONFIG) private readonly config: Pick<PublicApiConfig, 'http'>,
  ) {}

  create(
    fleetId: string,
    { name, shape }: CreateGeofenceDto,
    change: MakeChange<VersionedGeofence>,
  ): Promise<VersionedGeofence> {
    return change(async (stores) => {
      const draft = { geofenceId: this.newId(), fleetId, name, ...storedShape(shape) };
      const result = await stores.geofences.create(draft, this.nowMs(), this.config.http.fleetLimits);
      if (result.type === 'fleet_not_found') throw noSuchFleet();
      if (result.type === 'too_many') throw tooManyGeofences();
      if (result.type === 'limit_reached') throw tooMany(result);
      return { answer: toVersioned(result.geofence), outboxIds: result.outboxIds };
    });
  }

  async list(fleetId: string, query: ListQueryDto): Promise<ListPage<GeofenceDto>> {
    const walk = { fleetId, path: '/public/v1/geofences' };
    const page = await this.pages.byCreation(
      walk,
      query,
      (wanted) => this.geofences.list(wanted),
      ({ geofenceId: id, createdAt }) => ({ id, createdAt }),
    );
    return { ...page, data: page.data.map(toGeofence) };
  }

  async get(ref: GeofenceRef): Promise<VersionedGeofence> {
    const stored = await this.geofences.get(ref);
    if (stored === null) throw noSuchGeofence();
    return toVersioned(stored);
  }

  async update(
    ref: GeofenceRef,
    { name, shape }: UpdateGeofenceDto,
    expected: ExpectedVersions,
  ): Promise<VersionedGeofence> {
    const change = { ...(name === undefined ? {} : { name }), ...(shape === undefined ? {} : storedShape(shape)) };
    const { fleetLimits } = this.config.http;
    const result = await this.geofences.update(ref, change, this.nowMs(), expected, fleetLimits);
    if (result.type === 'not_found') throw noSuchGeofence();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    if (result.type === 'limit_reached') throw tooMany(result);
    if (result.type === 'changed') await this.published.wait(result.outboxIds);
    return toVersioned(result.geofence);
  }

  async remove(ref: GeofenceRef, expected: ExpectedVersions): Promise<void> {
    const result = await this.geofences.delete(ref, this.nowMs(), expected, this.config.http.fleetLimits);
    if (result.type === 'not_found') throw noSuchGeofence();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    if (result.type === 'limit_reached') throw tooMany(result);
    await this.published.wait(result.outboxIds);
  }
}

function toVersioned(stored: Geofence): VersionedGeofence {
  return { resource: toGeofence(stored), version: stored.version };
}
