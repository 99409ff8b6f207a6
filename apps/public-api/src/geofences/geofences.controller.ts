import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req, UseGuards } from '@nestjs/common';
import type { GeofenceRef, ManagementStore } from '@waypost/management-store';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { expectedVersions, tagged } from '../concurrency/entity-tag.js';
import { GEOFENCE_SERVICE, IDEMPOTENT_REQUESTS, MANAGEMENT_STORE, PAGE_STATES } from '../dependencies.js';
import { isUuid } from '../http/parameter-readers.js';
import { refuseParameters } from '../http/refuse-parameters.js';
import type { IdempotentRequests, MakeChange } from '../idempotency/idempotent-requests.js';
import { readListPage } from '../page-state/list-page.js';
import type { PageStates } from '../page-state/page-states.js';
import { readBody } from '../request-body/read-body.js';
import { createGeofenceBody, updateGeofenceBody } from './geofence-body.js';
import { noSuchGeofence } from './geofence-refusals.js';
import { type GeofenceResource, toGeofenceResource } from './geofence-resource.js';
import type { GeofenceService, VersionedGeofence } from './geofence-service.js';

const PATH = '/public/v1/geofences';

/** Geofences of the caller's fleet. Another fleet's id is not found. */
@Controller(PATH)
@UseGuards(ApiKeyGuard)
export class GeofencesController {
  constructor(
    @Inject(GEOFENCE_SERVICE) private readonly service: GeofenceService,
    @Inject(MANAGEMENT_STORE) private readonly store: Pick<ManagementStore, 'geofences'>,
    @Inject(PAGE_STATES) private readonly pageStates: PageStates,
    @Inject(IDEMPOTENT_REQUESTS) private readonly requests: IdempotentRequests,
  ) {}

  @Post()
  @RequireScope('geofences:write')
  async create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: unknown,
  ): Promise<GeofenceResource> {
    refuseParameters(request);
    const wanted = readBody(createGeofenceBody, body);
    const made = await this.requests.answer(request, caller, (change: MakeChange<VersionedGeofence>) =>
      this.service.create(caller.fleetId, wanted, change),
    );
    return tagged(request, made);
  }

  @Get()
  @RequireScope('geofences:read')
  async list(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
  ): Promise<{ data: GeofenceResource[]; nextPageState: string | null }> {
    const list = { request, path: PATH, pageStates: this.pageStates, fleetId: caller.fleetId };
    const { page, nextPageState } = await readListPage(list, async (query) => {
      const found = await this.store.geofences.list(query);
      return found.map((geofence) => ({ id: geofence.geofenceId, createdAt: geofence.createdAt, geofence }));
    });
    return { data: page.map(({ geofence }) => toGeofenceResource(geofence)), nextPageState };
  }

  @Get(':id')
  @RequireScope('geofences:read')
  async get(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
  ): Promise<GeofenceResource> {
    refuseParameters(request);
    const stored = await this.store.geofences.get(geofenceRef(caller, id));
    if (stored === null) throw noSuchGeofence();
    return tagged(request, { resource: toGeofenceResource(stored), version: stored.version });
  }

  @Patch(':id')
  @RequireScope('geofences:write')
  async update(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<GeofenceResource> {
    refuseParameters(request);
    const [ref, expected] = [geofenceRef(caller, id), expectedVersions(request)];
    return tagged(request, await this.service.update(ref, readBody(updateGeofenceBody, body), expected));
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('geofences:write')
  async remove(@CurrentCaller() caller: Caller, @Req() request: Request, @Param('id') id: string): Promise<void> {
    refuseParameters(request);
    await this.service.remove(geofenceRef(caller, id), expectedVersions(request));
  }
}

/** @throws ApiError 404 for what cannot be an id */
function geofenceRef({ fleetId }: Caller, id: string): GeofenceRef {
  if (!isUuid(id)) throw noSuchGeofence();
  return { fleetId, geofenceId: id.toLowerCase() };
}
