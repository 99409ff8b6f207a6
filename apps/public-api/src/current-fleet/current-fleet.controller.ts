import { Body, Controller, Get, Patch, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { ExpectedVersions } from '@waypost/management-store';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { IfMatch, setEntityTag } from '../endpoint/entity-tag.js';
import { FleetDto, UpdateFleetDto } from '../fleets/fleets.dto.js';
import { CurrentFleetService } from './current-fleet.service.js';

/** The caller's own fleet. */
@Controller('/public/v1/fleet')
export class CurrentFleetController {
  constructor(private readonly service: CurrentFleetService) {}

  @Get()
  @Endpoint({
    operationId: 'getFleet',
    summary: 'Read the fleet of the API key',
    tag: 'Fleet',
    scope: 'fleet:read',
    portal: 'whole_fleet',
    response: { status: 200, description: 'The fleet.', type: FleetDto },
    errors: [404],
    etag: true,
  })
  get(@CurrentCaller() { fleetId }: Caller, @Res({ passthrough: true }) response: Response): Promise<FleetDto> {
    return setEntityTag(response, this.service.get(fleetId));
  }

  @Patch()
  @Endpoint({
    operationId: 'updateFleet',
    summary: 'Change the fleet of the API key',
    description:
      'Omitted fields stay unchanged. Existing subscriptions keep their format. The number of changes in a day is limited (`too_many_changes_per_day`).',
    tag: 'Fleet',
    scope: 'fleet:write',
    portal: 'refused',
    response: { status: 200, description: 'The fleet after the change.', type: FleetDto },
    errors: [404, 409],
    etag: true,
    ifMatch: true,
  })
  update(
    @CurrentCaller() { fleetId }: Caller,
    @IfMatch() expected: ExpectedVersions,
    @Body() body: UpdateFleetDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<FleetDto> {
    return setEntityTag(response, this.service.update(fleetId, body, expected));
  }
}
