import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { REPLACED_SECRET_SIGNS_MS } from '@waypost/domain';
import type { ExpectedVersions } from '@waypost/management-store';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { IfMatch, setEntityTag } from '../endpoint/entity-tag.js';
import { setLocation } from '../endpoint/location.js';
import { durationText } from '../endpoint/prose.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import {
  CreatedSubscriptionsDto,
  QueuedTestDto,
  SubscriptionDto,
  SubscriptionPageDto,
  SubscriptionWithHealthDto,
  SubscriptionWithSecretDto,
} from './shown-subscription.dto.js';
import {
  ChangeScopeQueryDto,
  CreateSubscriptionsDto,
  SubscriptionListQueryDto,
  SubscriptionPathDto,
  UpdateSubscriptionDto,
} from './subscriptions.dto.js';
import { SubscriptionsService } from './subscriptions.service.js';

const tag = 'Subscriptions';

/** Webhook subscriptions of the caller's fleet. Another fleet's id is not found. */
@Controller('/public/v1/webhook-subscriptions')
export class SubscriptionsController {
  constructor(
    private readonly service: SubscriptionsService,
    private readonly requests: IdempotentRequests,
  ) {}

  @Post()
  @Endpoint({
    operationId: 'createSubscriptions',
    summary: 'Subscribe a URL to one or more event types',
    description:
      'Creates one subscription per event type, all or none, in the given order. They share one signing secret. A subscription receives events from the moment it is published. The response waits up to 3 s for that; if it takes longer, the subscriptions are stored and will be published later. The same request with the same `Idempotency-Key` waits again.',
    tag,
    scope: 'subscriptions:write',
    portal: 'whole_fleet',
    response: {
      status: 201,
      description: 'The subscriptions, with their signing secret.',
      type: CreatedSubscriptionsDto,
    },
    errors: [404, 409],
    idempotencyKey: true,
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Body() body: CreateSubscriptionsDto,
  ): Promise<CreatedSubscriptionsDto> {
    const data = await setLocation(
      request,
      this.requests.answer<SubscriptionWithSecretDto[]>(request, caller, (change) =>
        this.service.create(caller.fleetId, body, change),
      ),
    );
    return { data };
  }

  @Get()
  @Endpoint({
    operationId: 'listSubscriptions',
    summary: 'List subscriptions',
    description: 'Items have `suspended` in place of `health`, which only a GET of a single subscription returns.',
    tag,
    scope: 'subscriptions:read',
    portal: 'filtered',
    response: { status: 200, description: 'A page of subscriptions.', type: SubscriptionPageDto },
  })
  list(@CurrentCaller() caller: Caller, @Query() query: SubscriptionListQueryDto): Promise<SubscriptionPageDto> {
    return this.service.list(caller, query);
  }

  @Get(':id')
  @Endpoint({
    operationId: 'getSubscription',
    summary: 'Read a subscription',
    tag,
    scope: 'subscriptions:read',
    portal: 'named_subscription',
    response: { status: 200, description: 'The subscription, with its health.', type: SubscriptionWithHealthDto },
    errors: [404],
    etag: 'for_changes',
  })
  get(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { id }: SubscriptionPathDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SubscriptionWithHealthDto> {
    return setEntityTag(response, this.service.get({ fleetId, id }));
  }

  @Patch(':id')
  @Endpoint({
    operationId: 'updateSubscription',
    summary: 'Change a subscription',
    description:
      'Omitted fields stay unchanged; `auth`, `headers` and `metadata` are replaced as a whole. A portal session that is limited to some subscriptions can remove `deviceIds`, but not add any (403). Once the response says `paused` or `disabled`, sending stops within 1 s. If that cannot be guaranteed, the response is 503 with the code `not_in_effect_yet`; the change is stored.',
    tag,
    scope: 'subscriptions:write',
    portal: 'named_subscription',
    response: { status: 200, description: 'The subscription after the change.', type: SubscriptionDto },
    errors: [404, 409],
    etag: true,
    ifMatch: true,
  })
  update(
    @CurrentCaller() { fleetId, subscriptionIds: within }: Caller,
    @Param() { id }: SubscriptionPathDto,
    @Query() { scope }: ChangeScopeQueryDto,
    @IfMatch() expected: ExpectedVersions,
    @Body() body: UpdateSubscriptionDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SubscriptionDto> {
    return setEntityTag(response, this.service.update({ fleetId, id, scope, within }, body, expected));
  }

  @Delete(':id')
  @Endpoint({
    operationId: 'deleteSubscription',
    summary: 'Delete a subscription',
    tag,
    scope: 'subscriptions:write',
    portal: 'whole_fleet',
    response: { status: 204, description: 'It is deleted.' },
    errors: [404],
    ifMatch: true,
  })
  remove(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { id }: SubscriptionPathDto,
    @IfMatch() expected: ExpectedVersions,
  ): Promise<void> {
    return this.service.remove({ fleetId, id }, expected);
  }

  @Post(':id/rotate-secret')
  @Endpoint({
    operationId: 'rotateSecret',
    summary: 'Replace the signing secret',
    description: `The previous secret also signs for another ${durationText(REPLACED_SECRET_SIGNS_MS)}.`,
    tag,
    scope: 'subscriptions:write',
    portal: 'named_subscription',
    response: { status: 200, description: 'The subscription with its new secret.', type: SubscriptionWithSecretDto },
    errors: [404, 409],
    etag: true,
    ifMatch: true,
    idempotencyKey: true,
  })
  rotateSecret(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param() { id }: SubscriptionPathDto,
    @Query() { scope }: ChangeScopeQueryDto,
    @IfMatch() expected: ExpectedVersions,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SubscriptionWithSecretDto> {
    const target = { fleetId: caller.fleetId, id, scope, within: caller.subscriptionIds };
    return setEntityTag(
      response,
      this.requests.answer(request, caller, (change) => this.service.rotateSecret(target, expected, change)),
    );
  }

  @Post(':id/test')
  @Endpoint({
    operationId: 'sendTestEvent',
    summary: 'Send a test event',
    description:
      'Sends an event of type `test` to the subscription: signed, retried and kept in the history like any other. Its device does not exist. Only an active subscription can be tested. While deliveries are held because the endpoint is down, the test event waits with them.',
    tag,
    scope: 'subscriptions:write',
    portal: 'named_subscription',
    response: { status: 202, description: 'The event will be sent.', type: QueuedTestDto },
    errors: [404, 409],
    idempotencyKey: true,
  })
  sendTest(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param() { id }: SubscriptionPathDto,
  ): Promise<QueuedTestDto> {
    const ref = { fleetId: caller.fleetId, id };
    return this.requests.answer(request, caller, (change) => this.service.sendTest(ref, change));
  }
}
