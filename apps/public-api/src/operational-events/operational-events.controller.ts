import { Controller, Get, Param, Query } from '@nestjs/common';
import { MAX_ATTEMPTS, RETENTION_DAYS } from '@waypost/domain';
import { OPERATIONAL_EVENTS_KEPT } from '@waypost/management-store';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { ListQueryDto } from '../paging/paging.dto.js';
import { SubscriptionPathDto } from '../subscriptions/subscriptions.dto.js';
import { OperationalEventPageDto } from './operational-events.dto.js';
import { OperationalEventsService } from './operational-events.service.js';

/** Operational events of one subscription of the caller's fleet. */
@Controller('/public/v1/webhook-subscriptions/:id/operations')
export class OperationalEventsController {
  constructor(private readonly service: OperationalEventsService) {}

  @Get()
  @Endpoint({
    operationId: 'listSubscriptionOperations',
    summary: 'List operational events of a subscription, newest first',
    description: `Deliveries that failed ${String(MAX_ATTEMPTS)} times, outages and recoveries. Deliveries that ended at once, with a response such as 400, are only in the history. Events appear within seconds and are kept for ${String(RETENTION_DAYS)} days, at most the newest ${String(OPERATIONAL_EVENTS_KEPT)} of each type.`,
    tag: 'Subscriptions',
    scope: 'subscriptions:read',
    portal: 'named_subscription',
    response: { status: 200, description: 'A page of operational events.', type: OperationalEventPageDto },
    errors: [404],
  })
  list(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { id }: SubscriptionPathDto,
    @Query() query: ListQueryDto,
  ): Promise<OperationalEventPageDto> {
    return this.service.list({ fleetId, id }, query);
  }
}
