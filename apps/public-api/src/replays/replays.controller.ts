import { Body, Controller, Get, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { LOG_RETENTION_MS } from '@waypost/domain';
import { UNFINISHED_REPLAYS } from '@waypost/management-store';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { countText, durationText } from '../endpoint/prose.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { ListQueryDto } from '../paging/paging.dto.js';
import { SubscriptionPathDto } from '../subscriptions/subscriptions.dto.js';
import {
  CreateReplayDto,
  MOST_COUNTED,
  ReplayDto,
  ReplayPageDto,
  ReplayPathDto,
  ResendableDto,
  ResendableQueryDto,
} from './replays.dto.js';
import { ReplaysService } from './replays.service.js';

const tag = 'Subscriptions';

/** Replays of one subscription of the caller's fleet. */
@Controller('/public/v1/webhook-subscriptions/:id')
export class ReplaysController {
  constructor(
    private readonly service: ReplaysService,
    private readonly requests: IdempotentRequests,
  ) {}

  @Post('replays')
  @Endpoint({
    operationId: 'createReplay',
    summary: 'Replay deliveries',
    description: `Resends every delivery of the subscription whose first attempt lies in the window: same \`eventId\`, same bytes, in the original order. Attempts are recorded as separate deliveries in the history. Replays and test events are not resent. A subscription can have ${String(UNFINISHED_REPLAYS)} unfinished replays; they run one after the other. The number of replays that a fleet can start in a day is also limited (\`too_many_replays_per_day\`).`,
    tag,
    scope: 'subscriptions:write',
    portal: 'named_subscription',
    response: { status: 202, description: 'The new replay.', type: ReplayDto },
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

  @Get('replays')
  @Endpoint({
    operationId: 'listReplays',
    summary: 'List the replays of a subscription, newest first',
    description: `Replays are kept for ${durationText(LOG_RETENTION_MS)}.`,
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

  @Get('resendable')
  @Endpoint({
    operationId: 'countResendable',
    summary: 'Count what a replay would send',
    description: `Counts, up to ${countText(MOST_COUNTED)}, the deliveries that a replay with these filters would send if it started now. The search is limited: if there could be more, \`hasMore\` is true and \`deliveries\` is a lower bound.`,
    tag,
    scope: 'events:read',
    portal: 'named_subscription',
    response: { status: 200, description: 'The count.', type: ResendableDto },
    errors: [404],
  })
  countResendable(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { id }: SubscriptionPathDto,
    @Query() query: ResendableQueryDto,
  ): Promise<ResendableDto> {
    return this.service.countResendable({ fleetId, id }, query);
  }

  @Get('replays/:replayId')
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

  @Post('replays/:replayId/cancel')
  @Endpoint({
    operationId: 'cancelReplay',
    summary: 'Cancel a replay',
    description:
      'No more deliveries are created; existing ones are still sent. Canceling again, or after the replay has ended, changes nothing.',
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
