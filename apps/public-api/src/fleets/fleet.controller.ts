import { Body, Controller, Get, Inject, Patch, Req, UseGuards } from '@nestjs/common';
import type { FleetChange, ManagementStore } from '@waypost/management-store';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { expectedVersions, tagged, versionMismatch } from '../concurrency/entity-tag.js';
import { CLOCK, MANAGEMENT_STORE, UNTIL_PUBLISHED } from '../dependencies.js';
import { refuseParameters } from '../http/refuse-parameters.js';
import { readBody } from '../request-body/read-body.js';
import { updateFleetBody } from './fleet-body.js';
import { noSuchFleet } from './fleet-refusals.js';
import { type FleetResource, toFleetResource } from './fleet-resource.js';

/** The caller's own fleet: its defaults, and whether it has routes and stops. */
@Controller('/public/v1/fleet')
@UseGuards(ApiKeyGuard)
export class FleetController {
  constructor(
    @Inject(MANAGEMENT_STORE) private readonly store: Pick<ManagementStore, 'findFleet' | 'updateFleet'>,
    @Inject(UNTIL_PUBLISHED) private readonly untilPublished: (outboxIds: readonly string[]) => Promise<void>,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  @Get()
  @RequireScope('fleet:read')
  async get(@CurrentCaller() caller: Caller, @Req() request: Request): Promise<FleetResource> {
    refuseParameters(request);
    const stored = await this.store.findFleet(caller.fleetId);
    if (stored === null) throw noSuchFleet();
    return tagged(request, { resource: toFleetResource(stored), version: stored.version });
  }

  @Patch()
  @RequireScope('fleet:write')
  async update(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: unknown,
  ): Promise<FleetResource> {
    refuseParameters(request);
    const { name, payloadFormat, routes } = readBody(updateFleetBody, body);
    const change: FleetChange = {
      ...(name === undefined ? {} : { name }),
      ...(payloadFormat === undefined ? {} : { payloadFormat }),
      ...(routes === undefined ? {} : { routes }),
    };
    const result = await this.store.updateFleet(caller.fleetId, change, this.now(), expectedVersions(request));
    if (result.type === 'not_found') throw noSuchFleet();
    if (result.type === 'version_mismatch') throw versionMismatch(result.version);
    if (result.type === 'changed') await this.untilPublished(result.outboxIds);
    return tagged(request, { resource: toFleetResource(result.fleet), version: result.fleet.version });
  }
}
