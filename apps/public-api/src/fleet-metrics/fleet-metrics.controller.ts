import { Controller, Get, Query } from '@nestjs/common';
import { FiguresDto } from '../delivery-metrics/delivery-metrics.dto.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { AllFiguresQueryDto, FleetTotalsDto, FleetTotalsQueryDto } from './fleet-metrics.dto.js';
import { FleetMetricsService } from './fleet-metrics.service.js';

const tag = 'Operators';
const AS_OF_ONE_FLEET = 'Deliveries are counted as in `GET /public/v2/metrics`.';

/** Figures of all fleets, for an admin key. Those of one fleet are at `/public/v2/metrics` with the header `X-Waypost-Fleet`. */
@Controller('/public/v2/fleets')
export class FleetMetricsController {
  constructor(private readonly service: FleetMetricsService) {}

  @Get('metrics')
  @Endpoint({
    operationId: 'getMetricsOfAllFleets',
    summary: 'Delivery metrics of all fleets combined',
    description: `By minute, hour or day. ${AS_OF_ONE_FLEET}`,
    tag,
    scope: 'admin',
    portal: 'refused',
    response: { status: 200, description: 'The buckets that have deliveries.', type: FiguresDto },
  })
  overTime(@Query() query: AllFiguresQueryDto): Promise<FiguresDto> {
    return this.service.overTime(query);
  }

  @Get('totals')
  @Endpoint({
    operationId: 'getFleetTotals',
    summary: 'Delivery metrics of each fleet over a window, worst first',
    description: AS_OF_ONE_FLEET,
    tag,
    scope: 'admin',
    portal: 'refused',
    response: { status: 200, description: 'The fleets that have deliveries in the window.', type: FleetTotalsDto },
  })
  totals(@Query() query: FleetTotalsQueryDto): Promise<FleetTotalsDto> {
    return this.service.totals(query);
  }
}
