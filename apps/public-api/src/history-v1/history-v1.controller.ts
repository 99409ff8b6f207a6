import { Controller, Get, Header, Query } from '@nestjs/common';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { DeliveryPagesService } from '../delivery-history/delivery-pages.service.js';
import { JSON_TEXT } from '../delivery-history/page-text.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { V1_HISTORY_PATH } from '../http/deprecation.middleware.js';
import { HistoryV1PageDto, HistoryV1QueryDto } from './history-v1.dto.js';
import { v1PageText } from './history-v1.page.js';

/** The deprecated query of the delivery history. */
@Controller(V1_HISTORY_PATH)
export class HistoryV1Controller {
  constructor(private readonly pages: DeliveryPagesService) {}

  @Get()
  @Endpoint({
    operationId: 'listWebhookEventsV1',
    summary: 'Delivery history, version 1',
    description: 'Deprecated: use `GET /public/v2/events`. Every response has the deprecation headers. Newest last.',
    tag: 'History',
    scope: 'events:read',
    portal: 'filtered',
    response: { status: 200, description: 'A page of deliveries.', type: HistoryV1PageDto },
    deprecated: true,
  })
  @Header('content-type', JSON_TEXT)
  async list(@CurrentCaller() caller: Caller, @Query() query: HistoryV1QueryDto): Promise<string> {
    const { startDate: startAt, endDate: endAt, eventType, statusCode, ...paging } = query;
    const filters = { startAt, endAt, eventTypes: eventType === undefined ? undefined : [eventType], statusCode };
    return v1PageText(await this.pages.read({ caller, path: V1_HISTORY_PATH, filters, ...paging }));
  }
}
