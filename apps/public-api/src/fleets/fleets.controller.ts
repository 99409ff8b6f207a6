import { Body, Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { ALL_FLEETS } from '@waypost/database';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { setLocation } from '../endpoint/location.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { ListQueryDto } from '../paging/paging.dto.js';
import { CreateFleetDto, FleetDto, FleetPageDto, FleetPathDto } from './fleets.dto.js';
import { FleetsService } from './fleets.service.js';

const tag = 'Operators';

/** Their keys for repeated requests belong to no fleet; all admin keys share them. */
const OPERATORS = { type: 'admin', keyId: '', fleetId: ALL_FLEETS } as const;

/** Every fleet, for an admin key. Its API keys are managed by `/public/v1/api-keys` with the header `X-Waypost-Fleet`. */
@Controller('/public/v1/fleets')
export class FleetsController {
  constructor(
    private readonly service: FleetsService,
    private readonly requests: IdempotentRequests,
  ) {}

  @Post()
  @Endpoint({
    operationId: 'createFleet',
    summary: 'Create a fleet',
    description:
      'The new fleet has no API key yet: create one with `POST /public/v1/api-keys` and the header `X-Waypost-Fleet`.',
    tag,
    scope: 'admin',
    portal: 'refused',
    response: { status: 201, description: 'The fleet.', type: FleetDto },
    errors: [409],
    idempotencyKey: true,
  })
  create(@Req() request: Request, @Body() body: CreateFleetDto): Promise<FleetDto> {
    const made = this.requests.answer<FleetDto>(request, OPERATORS, (change) => this.service.create(body, change));
    return setLocation(request, made);
  }

  @Get()
  @Endpoint({
    operationId: 'listFleets',
    summary: 'List fleets, sorted by id',
    tag,
    scope: 'admin',
    portal: 'refused',
    response: { status: 200, description: 'A page of fleets.', type: FleetPageDto },
  })
  list(@Query() query: ListQueryDto): Promise<FleetPageDto> {
    return this.service.list(query);
  }

  @Get(':fleetId')
  @Endpoint({
    operationId: 'getFleetById',
    summary: 'Read a fleet',
    tag,
    scope: 'admin',
    portal: 'refused',
    response: { status: 200, description: 'The fleet.', type: FleetDto },
    errors: [404],
  })
  get(@Param() { fleetId }: FleetPathDto): Promise<FleetDto> {
    return this.service.get(fleetId);
  }
}
