import { Body, Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { ListQueryDto } from '../paging/paging.dto.js';
import { SubscriptionPathDto } from '../subscriptions/subscriptions.dto.js';
import { CreateReplayDto, ReplayDto, ReplayPageDto, ReplayPathDto } from './replays.dto.js';
import { ReplaysService } from './replays.service.js';

const tag = 'Subscriptions';

/** Replays of one subscription of the caller's fleet. */
@Controller('/public/v1/webhook-subscriptions/:id/replays')
export class ReplaysController {
  constructor(
    private readonly service: ReplaysService,
    private readonly requests: IdempotentRequests,
  ) {}

  @Post()
  @Endpoint({
    operationId: 'createReplay',
    summary: 'Send deliveries again',
    description:
      'Sends every delivery of the subscription again whose first attempt lies in the window: same `eventId`, same bytes, in the original order. Attempts are recorded as separate deliveries in the history. Deliveries that were sent by earlier replays and tests are not repeated. At most 3 replays of a subscription may be unfinished; they run one after the other.',
    tag,
    scope: 'subscriptions:write',
    portal: 'named_subscription',
    response: { status: 202, description: 'The replay, as it begins.', type: ReplayDto },
    errors: [404, 409],
    idempotencyKey: true,
  })
  create(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param() { id }: SubscriptionPathDto,
    @Body() body: CreateReplayDto,
  ): Promise<ReplayDto> {
    const ref = { fleetId: caller.fleetId, id };
    return this.requests.answer(request, caller, (change) => this.service.create(ref, body, change));
  }

  @Get()
  @Endpoint({
    operationId: 'listReplays',
    summary: 'List the replays of a subscription, newest first',
    description: 'Kept for 16 days.',
    tag,
    scope: 'subscriptions:read',
    portal: 'named_subscription',
    response: { status: 200, description: 'A page of replays.', type: ReplayPageDto },
    errors: [404],
  })
  list(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { id }: SubscriptionPathDto,
    @Query() query: ListQueryDto,
  ): Promise<ReplayPageDto> {
    return this.service.list({ fleetId, id }, query);
  }

  @Get(':replayId')
  @Endpoint({
    operationId: 'getReplay',
    summary: 'Read a replay and its progress',
    tag,
    scope: 'subscriptions:read',
    portal: 'named_subscription',
    response: { status: 200, description: 'The replay.', type: ReplayDto },
    errors: [404],
  })
  get(@CurrentCaller() { fleetId }: Caller, @Param() { id, replayId }: ReplayPathDto): Promise<ReplayDto> {
    return this.service.get({ fleetId, id }, replayId);
  }

  @Post(':replayId/cancel')
  @Endpoint({
    operationId: 'cancelReplay',
    summary: 'Cancel a replay',
    description:
      'No more deliveries are created; those that already exist are still sent. Cancelling again, or after the end, changes nothing.',
    tag,
    scope: 'subscriptions:write',
    portal: 'named_subscription',
    response: { status: 200, description: 'The replay after the change.', type: ReplayDto },
    errors: [404],
  })
  cancel(@CurrentCaller() { fleetId }: Caller, @Param() { id, replayId }: ReplayPathDto): Promise<ReplayDto> {
    return this.service.cancel({ fleetId, id }, replayId);
  }
}
