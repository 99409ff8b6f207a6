import { Controller, Get, Header, Inject, Req, UseGuards } from '@nestjs/common';
import { MAX_ID_LENGTH } from '@waypost/domain';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { DELIVERY_PAGES } from '../dependencies.js';
import type { DeliveryPages } from '../history/delivery-pages.js';
import { eventType, MAX_LIMIT, readWindow, statusCode } from '../history/history-parameters.js';
import { JSON_TEXT } from '../history/page-text.js';
import { oneOf, text, uuid } from '../http/parameter-readers.js';
import { createQueryReader } from '../http/query-reader.js';
import { readPaging } from '../page-state/paging.js';
import { v2PageText } from './v2-page.js';

const PATH = '/public/v2/events';

const PARAMETERS = {
  single: [
    'startDate',
    'endDate',
    'deviceId',
    'subscriptionId',
    'eventId',
    'statusCode',
    'status',
    'include',
    'limit',
    'pageState',
  ],
  repeatable: ['eventType'],
};

/** The delivery history with the payload as pushed. */
@Controller(PATH)
@UseGuards(ApiKeyGuard)
export class V2EventsController {
  constructor(@Inject(DELIVERY_PAGES) private readonly pages: DeliveryPages) {}

  @Get()
  @RequireScope('events:read')
  @Header('content-type', JSON_TEXT)
  async list(@CurrentCaller() caller: Caller, @Req() request: Request): Promise<string> {
    const query = createQueryReader(request.url, PARAMETERS);
    const filters = {
      ...readWindow(query, 'optional'),
      // In one order and once each: the same filter however it is written.
      eventTypes: [...new Set(query.all('eventType', eventType))].sort(),
      deviceId: query.optional('deviceId', text(MAX_ID_LENGTH)),
      subscriptionId: query.optional('subscriptionId', uuid),
      eventId: query.optional('eventId', uuid),
      statusCode: query.optional('statusCode', statusCode),
      status: query.optional('status', oneOf(['delivered', 'failed', 'pending'])),
    };
    const includeBody = query.optional('include', oneOf(['body'])) !== undefined;
    const paging = readPaging(query, MAX_LIMIT);
    query.finish();
    const page = await this.pages.read({ fleetId: caller.fleetId, path: PATH, filters, ...paging });
    return v2PageText(page, { includeBody });
  }
}
