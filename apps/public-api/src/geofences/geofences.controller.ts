import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type ExpectedVersions, MAX_GEOFENCES } from '@waypost/management-store';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { IfMatch, setEntityTag, type Versioned } from '../endpoint/entity-tag.js';
import { setLocation } from '../endpoint/location.js';
import { countText } from '../endpoint/prose.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { ListQueryDto } from '../paging/paging.dto.js';
import {
  CreateGeofenceDto,
  GeofenceDto,
  GeofencePageDto,
  GeofencePathDto,
  UpdateGeofenceDto,
} from './geofences.dto.js';
import { GeofencesService } from './geofences.service.js';

const tag = 'Geofences';

/** Geofences of the caller's fleet. Another fleet's id is not found. */
@Controller('/public/v1/geofences')
export class GeofencesController {
  constructor(
    private readonly service: GeofencesService,
    private readonly requests: IdempotentRequests,
  ) {}

  @Post()
  @Endpoint({
    operationId: 'createGeofence',
    summary: 'Create a geofence',
    description: `A circle or a polygon. Vehicles that are inside when it is created cause no event until they leave. A fleet can have ${countText(MAX_GEOFENCES)} geofences. The number of positions that it can write in a day by creating, changing and deleting geofences is also limited (\`too_many_changes_per_day\`).`,
    tag,
    scope: 'geofences:write',
    portal: 'whole_fleet',
    response: { status: 201, description: 'The geofence.', type: GeofenceDto },
    errors: [404, 409],
    etag: true,
    idempotencyKey: true,
  })
  create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: CreateGeofenceDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GeofenceDto> {
    const made = this.requests.answer<Versioned<GeofenceDto>>(request, caller, (change) =>
      this.service.create(caller.fleetId, body, change),
    );
    return setLocation(request, setEntityTag(response, made));
  }

  @Get()
  @Endpoint({
    operationId: 'listGeofences',
    summary: 'List geofences, oldest first',
    tag,
    scope: 'geofences:read',
    portal: 'whole_fleet',
    response: { status: 200, description: 'A page of geofences.', type: GeofencePageDto },
  })
  list(@CurrentCaller() { fleetId }: Caller, @Query() query: ListQueryDto): Promise<GeofencePageDto> {
    return this.service.list(fleetId, query);
  }

  @Get(':id')
  @Endpoint({
    operationId: 'getGeofence',
    summary: 'Read a geofence',
    tag,
    scope: 'geofences:read',
    portal: 'whole_fleet',
    response: { status: 200, description: 'The geofence.', type: GeofenceDto },
    errors: [404],
    etag: true,
  })
  get(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { id }: GeofencePathDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GeofenceDto> {
    return setEntityTag(response, this.service.get({ fleetId, geofenceId: id }));
  }

  @Patch(':id')
  @Endpoint({
    operationId: 'updateGeofence',
    summary: 'Change a geofence',
    description: 'Omitted fields stay unchanged; `shape` is replaced as a whole.',
    tag,
    scope: 'geofences:write',
    portal: 'whole_fleet',
    response: { status: 200, description: 'The geofence after the change.', type: GeofenceDto },
    errors: [404, 409],
    etag: true,
    ifMatch: true,
  })
  update(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { id }: GeofencePathDto,
    @IfMatch() expected: ExpectedVersions,
    @Body() body: UpdateGeofenceDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<GeofenceDto> {
    return setEntityTag(response, this.service.update({ fleetId, geofenceId: id }, body, expected));
  }

  @Delete(':id')
  @Endpoint({
    operationId: 'deleteGeofence',
    summary: 'Delete a geofence',
    tag,
    scope: 'geofences:write',
    portal: 'whole_fleet',
    response: { status: 204, description: 'It is deleted.' },
    errors: [404, 409],
    ifMatch: true,
  })
  remove(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { id }: GeofencePathDto,
    @IfMatch() expected: ExpectedVersions,
  ): Promise<void> {
    return this.service.remove({ fleetId, geofenceId: id }, expected);
  }
}
