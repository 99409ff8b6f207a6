import { Controller, Get, Header, Param, Post, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { RETENTION_DAYS } from '@waypost/domain';
import { UNFINISHED_REPLAYS } from '@waypost/management-store';
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
    description: `Deliveries in the order of their first attempt, newest last unless \`order\` says otherwise, with the payload as it was sent. The window defaults to the whole retention of ${String(RETENTION_DAYS)} days. \`status=pending\` includes deliveries that are waiting for their first attempt: they come after all others, in the order of their creation, and are in the window if their creation or their first attempt is. With \`payload\`, a page can be empty and still have a token: \`searchedUntil\` says how far the search got.`,
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
      'The first delivery of the event and its replays, in the order of their series, including deliveries that are waiting for their first attempt. An event belongs to one subscription.',
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
    summary: 'Resend one event',
    description: `Resends the event to its subscription, as a replay of this event alone: same \`eventId\`, same bytes, whatever its earlier outcome. If the event is still waiting for its first attempt, the response is 409 with the code \`not_attempted_yet\`: it will be sent anyway. A resend is a replay: it counts toward the ${String(UNFINISHED_REPLAYS)} unfinished replays that a subscription can have and toward those that a fleet can start in a day (\`too_many_replays_per_day\`), and it is read and cancelled like a replay.`,
    tag: 'History',
    scope: 'subscriptions:write',
    portal: 'filtered',
    response: { status: 202, description: 'The new replay.', type: ReplayDto },
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
