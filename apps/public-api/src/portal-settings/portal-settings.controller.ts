import { Body, Controller, Get, Patch, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { ExpectedVersions } from '@waypost/management-store';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { IfMatch, setEntityTag } from '../endpoint/entity-tag.js';
import { FleetPortalDto, UpdateFleetPortalDto } from './portal-settings.dto.js';
import { PortalSettingsService } from './portal-settings.service.js';

const tag = 'Portal';

@Controller('/public/v1/fleet/portal')
export class PortalSettingsController {
  constructor(private readonly service: PortalSettingsService) {}

  @Get()
  @Endpoint({
    operationId: 'getFleetPortal',
    summary: 'Read the portal settings',
    tag,
    scope: 'fleet:read',
    portal: 'whole_fleet',
    response: { status: 200, description: 'The portal of the fleet.', type: FleetPortalDto },
    errors: [404],
    etag: true,
  })
  get(@CurrentCaller() { fleetId }: Caller, @Res({ passthrough: true }) response: Response): Promise<FleetPortalDto> {
    return setEntityTag(response, this.service.get(fleetId));
  }

  @Patch()
  @Endpoint({
    operationId: 'updateFleetPortal',
    summary: 'Change the portal settings',
    description: 'Omitted fields stay unchanged.',
    tag,
    scope: 'fleet:write',
    portal: 'refused',
    response: { status: 200, description: 'The portal after the change.', type: FleetPortalDto },
    errors: [404],
    etag: true,
    ifMatch: true,
  })
  update(
    @CurrentCaller() { fleetId }: Caller,
    @IfMatch() expected: ExpectedVersions,
    @Body() body: UpdateFleetPortalDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<FleetPortalDto> {
    return setEntityTag(response, this.service.update(fleetId, body, expected));
  }
}
