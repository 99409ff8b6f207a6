import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req, UseGuards } from '@nestjs/common';
import type { DeliveryPosition } from '@waypost/domain';
import type { ManagementStore, SubscriptionPosition } from '@waypost/history-store';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { MANAGEMENT_STORE, PAGE_STATES, SUBSCRIPTION_SERVICE } from '../dependencies.js';
import { integer, text } from '../http/parameter-readers.js';
import { createQueryReader } from '../http/query-reader.js';
import type { PageStates } from '../page-state/page-states.js';
import { createBody, readBody, updateBody } from './subscription-body.js';
import { noSuchSubscription } from './subscription-refusals.js';
import { refOf, refuseParameters } from './subscription-request.js';
import { type SubscriptionResource, type SubscriptionWithSecret, toResource } from './subscription-resource.js';
import type { QueuedTest, SubscriptionService } from './subscription-service.js';

const PATH = '/public/v1/webhook-subscriptions';

/** Webhook subscriptions of the caller's fleet. Another fleet's id is not found. */
@Controller(PATH)
@UseGuards(ApiKeyGuard)
export class SubscriptionsController {
  constructor(
    @Inject(SUBSCRIPTION_SERVICE) private readonly service: SubscriptionService,
    @Inject(MANAGEMENT_STORE) private readonly store: Pick<ManagementStore, 'subscriptions'>,
    @Inject(PAGE_STATES) private readonly pageStates: PageStates,
  ) {}

  @Post()
  @RequireScope('subscriptions:write')
  async create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: unknown,
  ): Promise<{ data: SubscriptionWithSecret[] }> {
    refuseParameters(request);
    return { data: await this.service.create(caller.fleetId, readBody(createBody, body)) };
  }

  @Get()
  @RequireScope('subscriptions:read')
  async list(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
  ): Promise<{ data: SubscriptionResource[]; nextPageState: string | null }> {
    const query = createQueryReader(request.url, { single: ['limit', 'pageState'] });
    const limit = query.optional('limit', integer(1, 1_000)) ?? 100;
    const pageState = query.optional('pageState', text(4_096));
    query.finish();
    const walk = { fleetId: caller.fleetId, path: PATH, filters: {} };
    const after = pageState === undefined ? null : subscriptionPosition(this.pageStates.open(pageState, walk));
    const found = await this.store.subscriptions.list({ fleetId: caller.fleetId, limit: limit + 1, after });
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const nextPageState = last === undefined ? null : this.pageStates.seal(tokenPosition(last), walk);
    return { data: page.map(toResource), nextPageState };
  }

  @Get(':id')
  @RequireScope('subscriptions:read')
  async get(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
  ): Promise<SubscriptionResource> {
    refuseParameters(request);
    const stored = await this.store.subscriptions.get(refOf(caller, id));
    if (stored === null) throw noSuchSubscription();
    return toResource(stored);
  }

  @Patch(':id')
  @RequireScope('subscriptions:write')
  async update(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
    @Body() body: unknown,
  ): Promise<SubscriptionResource> {
    refuseParameters(request);
    return this.service.update(refOf(caller, id), readBody(updateBody, body));
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('subscriptions:write')
  async remove(@CurrentCaller() caller: Caller, @Req() request: Request, @Param('id') id: string): Promise<void> {
    refuseParameters(request);
    await this.service.remove(refOf(caller, id));
  }

  @Post(':id/rotate-secret')
  @HttpCode(200)
  @RequireScope('subscriptions:write')
  async rotateSecret(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
  ): Promise<SubscriptionWithSecret> {
    refuseParameters(request);
    return this.service.rotateSecret(refOf(caller, id));
  }

  @Post(':id/test')
  @HttpCode(202)
  @RequireScope('subscriptions:write')
  async sendTest(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param('id') id: string,
  ): Promise<QueuedTest> {
    refuseParameters(request);
    return this.service.sendTest(refOf(caller, id));
  }
}

/** Page tokens speak of deliveries; a subscription's place in its list has the same shape. */
function tokenPosition({ createdAt, id }: SubscriptionPosition): DeliveryPosition {
  return { firstAttemptAt: createdAt, eventId: id, series: 0 };
}

function subscriptionPosition({ firstAttemptAt, eventId }: DeliveryPosition): SubscriptionPosition {
  return { createdAt: firstAttemptAt, id: eventId };
}
