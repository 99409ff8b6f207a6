import { Body, Controller, Get, HttpCode, Inject, Param, Post, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { IDEMPOTENT_REQUESTS, PAGE_STATES, REPLAY_SERVICE } from '../dependencies.js';
import { isUuid } from '../http/parameter-readers.js';
import { refuseParameters } from '../http/refuse-parameters.js';
import type { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import type { PageStates } from '../page-state/page-states.js';
import { readListPaging } from '../page-state/paging.js';
import { readBody } from '../request-body/read-body.js';
import { refOf } from '../subscriptions/subscription-request.js';
import { replayBody } from './replay-body.js';
import type { ReplayResource } from './replay-resource.js';
import { noSuchReplay, type ReplayService } from './replay-service.js';

const PATH = '/public/v1/webhook-subscriptions/:id/replays';

/** What is sent again of one subscription of the caller's fleet. */
@Controller(PATH)
@UseGuards(ApiKeyGuard)
export class ReplaysController {
  constructor(
    @Inject(REPLAY_SERVICE) private readonly service: ReplayService,
    @Inject(PAGE_STATES) private readonly pageStates: PageStates,
    @Inject(IDEMPOTENT_REQUESTS) private readonly requests: IdempotentRequests,
  ) {}

  @Post()
  @HttpCode(202)
  @RequireScope('subscriptions:write')
  async create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<ReplayResource> {
    refuseParameters(request);
    const [ref, wanted] = [refOf(caller, id), readBody(replayBody, body)];
    return this.requests.answer(request, caller, (change) => this.service.create(ref, wanted, change));
  }

  @Get()
  @RequireScope('subscriptions:read')
  async list(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
  ): Promise<{ data: ReplayResource[]; nextPageState: string | null }> {
    const { limit, pageState } = readListPaging(request);
    const ref = refOf(caller, id);
    const walk = { fleetId: ref.fleetId, path: PATH, filters: { subscriptionId: ref.id } };
    const beforeSeries = pageState === undefined ? null : this.pageStates.open(pageState, walk).series;
    const found = await this.service.list(ref, { limit: limit + 1, beforeSeries });
    const data = found.slice(0, limit);
    const last = found.length > limit ? data.at(-1) : undefined;
    // Page tokens speak of deliveries; of a replay, the series alone is its place.
    const position = last && { firstAttemptAt: 0, eventId: last.replayId, series: last.series };
    return { data, nextPageState: position === undefined ? null : this.pageStates.seal(position, walk) };
  }

  @Get(':replayId')
  @RequireScope('subscriptions:read')
  async get(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
    @Param('replayId') replayId: string,
  ): Promise<ReplayResource> {
    refuseParameters(request);
    return this.service.get(refOf(caller, id), replayIdOf(replayId));
  }

  @Post(':replayId/cancel')
  @HttpCode(200)
  @RequireScope('subscriptions:write')
  async cancel(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
    @Param('replayId') replayId: string,
  ): Promise<ReplayResource> {
    refuseParameters(request);
    return this.service.cancel(refOf(caller, id), replayIdOf(replayId));
  }
}

/** @throws ApiError 404 for what cannot be an id */
function replayIdOf(text: string): string {
  if (!isUuid(text)) throw noSuchReplay();
  return text.toLowerCase();
}
