import { Controller, Get, Query } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { FiguresDto, FiguresQueryDto } from './delivery-metrics.dto.js';
import { DeliveryMetricsService } from './delivery-metrics.service.js';

@Controller('/public/v2/metrics')
export class DeliveryMetricsController {
  constructor(private readonly figures: DeliveryMetricsService) {}

  @Get()
  @Endpoint({
    operationId: 'getMetrics',
    summary: 'Delivery metrics',
    description:
      'Deliveries by outcome, attempts, retries and percentiles, by minute, hour or day. A delivery is counted in the bucket of its first attempt, with everything that happens to it later, so the counts of a window match the events of that window. Deliveries that are waiting for their first attempt have no bucket yet and are not counted, not even as `pending`: for those, see `GET /public/v2/events?status=pending` and the `health` of a subscription.',
    tag: 'History',
    scope: 'events:read',
    portal: 'filtered',
    response: { status: 200, description: 'The buckets that have deliveries.', type: FiguresDto },
  })
  read(@CurrentCaller() caller: Caller, @Query() query: FiguresQueryDto): Promise<FiguresDto> {
    return this.figures.read(caller, query);
  }
}
