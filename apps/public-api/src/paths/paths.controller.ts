import { Controller, Get, Query } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { PathsPageDto, PathsQueryDto } from './paths.dto.js';
import { PathsService } from './paths.service.js';

/** Where the devices of the caller's fleet were. */
@Controller('/public/v1/paths')
export class PathsController {
  constructor(private readonly service: PathsService) {}

  @Get()
  @Endpoint({
    operationId: 'listPaths',
    summary: 'Paths',
    description:
      'Every accepted ping, including late ones, once per device and time. Devices are sorted by id, and the points of a device by time. If the points of a device do not fit on a page, they continue at the start of the next.',
    tag: 'Paths',
    scope: 'paths:read',
    portal: 'whole_fleet',
    response: { status: 200, description: 'A page of paths.', type: PathsPageDto },
  })
  list(@CurrentCaller() { fleetId }: Caller, @Query() query: PathsQueryDto): Promise<PathsPageDto> {
    return this.service.read(fleetId, query);
  }
}
