import { Controller, Get, Header, Inject, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { DELIVERY_PAGES } from '../dependencies.js';
import type { DeliveryPages } from '../history/delivery-pages.js';
import { eventType, MAX_LIMIT, readWindow, statusCode } from '../history/history-parameters.js';
import { JSON_TEXT } from '../history/page-text.js';
import { createQueryReader } from '../http/query-reader.js';
import { readPaging } from '../page-state/paging.js';
import { V1_HISTORY_PATH } from './deprecation.middleware.js';
import { v1PageText } from './v1-page.js';

const PARAMETERS = ['startDate', 'endDate', 'eventType', 'statusCode', 'limit', 'pageState'];

/** The deprecated query of the delivery history. */
@Controller(V1_HISTORY_PATH)
@UseGuards(ApiKeyGuard)
export class V1HistoryController {
  constructor(@Inject(DELIVERY_PAGES) private readonly pages: DeliveryPages) {}

  @Get()
  @RequireScope('events:read')
  @Header('content-type', JSON_TEXT)
  async list(@CurrentCaller() caller: Caller, @Req() request: Request): Promise<string> {
    const query = createQueryReader(request.url, { single: PARAMETERS });
    const window = readWindow(query, 'required');
    const type = query.optional('eventType', eventType);
    const code = query.optional('statusCode', statusCode);
    const paging = readPaging(query, MAX_LIMIT);
    query.finish();
    const filters = { ...window, eventTypes: type === undefined ? undefined : [type], statusCode: code };
    const page = await this.pages.read({ fleetId: caller.fleetId, path: V1_HISTORY_PATH, filters, ...paging });
    return v1PageText(page);
  }
}
