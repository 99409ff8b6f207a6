import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Req, UseGuards } from '@nestjs/common';
import type { ManagementStore } from '@waypost/management-store';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { expectedVersions, tagged, type Versioned } from '../concurrency/entity-tag.js';
import { IDEMPOTENT_REQUESTS, MANAGEMENT_STORE, PAGE_STATES, SUBSCRIPTION_SERVICE } from '../dependencies.js';
import { refuseParameters } from '../http/refuse-parameters.js';
import type { IdempotentRequests, MakeChange } from '../idempotency/idempotent-requests.js';
import { readListPage } from '../page-state/list-page.js';
import type { PageStates } from '../page-state/page-states.js';
import { readBody } from '../request-body/read-body.js';
import { createBody, updateBody } from './subscription-body.js';
import { noSuchSubscription } from './subscription-refusals.js';
import { refOf } from './subscription-request.js';
import { type SubscriptionResource, type SubscriptionWithSecret, toResource } from './subscription-resource.js';
import type { QueuedTest, SubscriptionService } from './subscription-service.js';

type VersionedWithSecret = Versioned<SubscriptionWithSecret>;

const PATH = '/public/v1/webhook-subscriptions';

/** Webhook subscriptions of the caller's fleet. Another fleet's id is not found. */
@Controller(PATH)
@UseGuards(ApiKeyGuard)
export class SubscriptionsController {
  constructor(
    @Inject(SUBSCRIPTION_SERVICE) private readonly service: SubscriptionService,
    @Inject(MANAGEMENT_STORE) private readonly store: Pick<ManagementStore, 'subscriptions'>,
    @Inject(PAGE_STATES) private readonly pageStates: PageStates,
    @Inject(IDEMPOTENT_REQUESTS) private readonly requests: IdempotentRequests,
  ) {}

  @Post()
  @RequireScope('subscriptions:write')
  async create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: unknown,
  ): Promise<{ data: SubscriptionWithSecret[] }> {
    refuseParameters(request);
    const wanted = readBody(createBody, body);
    const data = await this.requests.answer(request, caller, (change: MakeChange<SubscriptionWithSecret[]>) =>
      this.service.create(caller.fleetId, wanted, change),
    );
    return { data };
  }

  @Get()
  @RequireScope('subscriptions:read')
  async list(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
  ): Promise<{ data: SubscriptionResource[]; nextPageState: string | null }> {
    const list = { request, path: PATH, pageStates: this.pageStates, fleetId: caller.fleetId };
    const { page, nextPageState } = await readListPage(list, (query) => this.store.subscriptions.list(query));
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
    return tagged(request, { resource: toResource(stored), version: stored.version });
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
    const expected = expectedVersions(request);
    return tagged(request, await this.service.update(refOf(caller, id), readBody(updateBody, body), expected));
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('subscriptions:write')
  async remove(@CurrentCaller() caller: Caller, @Req() request: Request, @Param('id') id: string): Promise<void> {
    refuseParameters(request);
    await this.service.remove(refOf(caller, id), expectedVersions(request));
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
    const [ref, expected] = [refOf(caller, id), expectedVersions(request)];
    const rotated = await this.requests.answer(request, caller, (change: MakeChange<VersionedWithSecret>) =>
      this.service.rotateSecret(ref, expected, change),
    );
    return tagged(request, rotated);
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
    const ref = refOf(caller, id);
    return this.requests.answer(request, caller, (change) => this.service.sendTest(ref, change));
  }
}
