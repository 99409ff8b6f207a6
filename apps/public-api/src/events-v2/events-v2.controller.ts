import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { DeliveryPages } from '../delivery-history/delivery-pages.service.js';
import { JSON_TEXT } from '../delivery-history/page-text.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { notFound } from '../errors/api-error.js';
import { EventPathDto, EventQueryDto, EventsPageDto, EventsQueryDto } from './events-v2.dto.js';
import { v2PageText } from './events-v2.page.js';

const PATH = '/public/v2/events';

/** The delivery history with the payload as pushed. */
@Controller(PATH)
export class EventsV2Controller {
  constructor(private readonly pages: DeliveryPages) {}

  @Get()
  @Endpoint({
    operationId: 'listEvents',
    summary: 'Delivery history',
    description:
      'Deliveries in the order of their first attempt, newest last unless `order` says otherwise, with the payload as it was pushed. Without startDate: from the start of the retention of 15 days; without endDate: to the newest.',
    tag: 'History',
    scope: 'events:read',
    response: { status: 200, description: 'A page of deliveries.', type: EventsPageDto },
  })
  @Header('content-type', JSON_TEXT)
  async list(@CurrentCaller() { fleetId }: Caller, @Query() query: EventsQueryDto): Promise<string> {
    const {
      startDate: startAt,
      endDate: endAt,
      eventType: eventTypes = [],
      include,
      limit,
      pageState,
      ...rest
    } = query;
    const filters = { startAt, endAt, eventTypes, ...rest };
    const page = await this.pages.read({ fleetId, path: PATH, filters, limit, pageState });
    return v2PageText(page, { includeBody: include !== undefined });
  }

  @Get(':eventId')
  @Endpoint({
    operationId: 'getEvent',
    summary: 'Deliveries of one event',
    description: 'Its deliveries to every subscription, with those of replays, in the order of their first attempt.',
    tag: 'History',
    scope: 'events:read',
    response: { status: 200, description: 'A page of deliveries of the event.', type: EventsPageDto },
    errors: [404],
  })
  @Header('content-type', JSON_TEXT)
  async get(
    @CurrentCaller() { fleetId }: Caller,
    @Param() { eventId }: EventPathDto,
    @Query() { include, limit, pageState }: EventQueryDto,
  ): Promise<string> {
    const page = await this.pages.read({ fleetId, path: `${PATH}/${eventId}`, filters: { eventId }, limit, pageState });
    if (page.records.length === 0) throw notFound('There is no such event in the history.');
    return v2PageText(page, { includeBody: include !== undefined });
  }
}
