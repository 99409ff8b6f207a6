import { Controller, Get, Header, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { type DeliveryPageRequest, DeliveryPagesService } from '../delivery-history/delivery-pages.service.js';
import { JSON_TEXT } from '../delivery-history/page-text.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { notFound } from '../errors/api-error.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { ReplayDto } from '../replays/replays.dto.js';
import { EventResendsService } from './event-resends.service.js';
import { EventPathDto, EventQueryDto, EventsPageDto, EventsQueryDto } from './events-v2.dto.js';
import { v2PageText } from './events-v2.page.js';

const PATH = '/public/v2/events';

/** The delivery history with the payload as pushed. */
@Controller(PATH)
export class EventsV2Controller {
  constructor(
    private readonly pages: DeliveryPagesService,
    private readonly resends: EventResendsService,
    private readonly requests: IdempotentRequests,
  ) {}

  @Get()
  @Endpoint({
    operationId: 'listEvents',
    summary: 'Delivery history',
    description:
      'Deliveries in the order of their first attempt, newest last unless `order` says otherwise, with the payload as it was pushed. Without startDate: from the start of the retention of 15 days; without endDate: to the newest. With `status=pending` also deliveries that wait for their first attempt: they count as the newest, in the order of their creation, which is their time for the window. With `payload` an answer may be empty and have a token: it says in `searchedUntil` how far it has looked.',
    tag: 'History',
    scope: 'events:read',
    portal: 'filtered',
    response: { status: 200, description: 'A page of deliveries.', type: EventsPageDto },
  })
  @Header('content-type', JSON_TEXT)
  async list(@CurrentCaller() caller: Caller, @Query() query: EventsQueryDto): Promise<string> {
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
    const asked = { caller, path: PATH, filters, limit, pageState };
    // What has a status code was attempted.
    const isOfWaiting = filters.status === 'pending' && filters.statusCode === undefined;
    const read = (request: DeliveryPageRequest) =>
      isOfWaiting ? this.pages.readPending(request) : this.pages.read(request);
    const { payload } = filters;
    const page = await (payload === undefined ? read(asked) : this.pages.search(payload, asked, read));
    return v2PageText(page, { includeBody: include !== undefined });
  }

  @Get(':eventId')
  @Endpoint({
    operationId: 'getEvent',
    summary: 'Deliveries of one event',
    description:
      'Its deliveries, the first one and those of replays, in the order of their series, with those that wait for their first attempt. An event belongs to one subscription.',
    tag: 'History',
    scope: 'events:read',
    portal: 'filtered',
    response: { status: 200, description: 'A page of deliveries of the event.', type: EventsPageDto },
    errors: [404],
  })
  @Header('content-type', JSON_TEXT)
  async get(
    @CurrentCaller() caller: Caller,
    @Param() { eventId }: EventPathDto,
    @Query() { include, limit, pageState }: EventQueryDto,
  ): Promise<string> {
    const path = `${PATH}/${eventId}`;
    const page = await this.pages.readEvent({ caller, path, eventId, limit, pageState });
    if (page.records.length === 0 && pageState === undefined) throw notFound('There is no such event in the history.');
    return v2PageText(page, { includeBody: include !== undefined });
  }

  @Post(':eventId/resend')
  @Endpoint({
    operationId: 'resendEvent',
    summary: 'Send one event again',
    description:
      'Sends the event again to its subscription, as a replay of it alone: same `eventId`, same bytes, whatever became of it before. One that still waits for its first attempt is a 409 with the code `not_attempted_yet`: it will be sent. It counts among the 3 replays of a subscription that may be unfinished, and is read and cancelled like them.',
    tag: 'History',
    scope: 'subscriptions:write',
    portal: 'filtered',
    response: { status: 202, description: 'The replay, as it begins.', type: ReplayDto },
    errors: [404, 409],
    idempotencyKey: true,
  })
  resend(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Param() { eventId }: EventPathDto,
  ): Promise<ReplayDto> {
    return this.requests.answer(request, caller, (change) => this.resends.create({ caller, eventId }, change));
  }
}
