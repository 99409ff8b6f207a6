import { Controller, Get, Inject, Req, UseGuards } from '@nestjs/common';
import type { Request } from 'express';
import { ApiKeyGuard, RequireScope } from '../auth/api-key.guard.js';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { PATH_PAGES } from '../dependencies.js';
import { MAX_LIMIT, readWindow } from '../history/history-parameters.js';
import { createQueryReader } from '../http/query-reader.js';
import { readPaging } from '../page-state/paging.js';
import { deviceIds } from './device-ids.js';
import { type DevicePath, toDevicePaths } from './device-path.js';
import { type PathPages, PATHS_PATH } from './path-pages.js';

const PARAMETERS = ['startDate', 'endDate', 'deviceIds', 'limit', 'pageState'];

/** Where the devices of a fleet were. */
@Controller(PATHS_PATH)
@UseGuards(ApiKeyGuard)
export class PathsController {
  constructor(@Inject(PATH_PAGES) private readonly pages: PathPages) {}

  @Get()
  @RequireScope('paths:read')
  async list(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
  ): Promise<{ data: DevicePath[]; next_page_state: string | null }> {
    const query = createQueryReader(request.url, { single: PARAMETERS });
    const { startAt, endAt } = readWindow(query, 'required');
    const devices = query.optional('deviceIds', deviceIds);
    const paging = readPaging(query, MAX_LIMIT);
    query.finish();
    // Without a window `finish` has thrown.
    const filters = { startAt: startAt ?? 0, endAt: endAt ?? 0, deviceIds: devices };
    const page = await this.pages.read({ fleetId: caller.fleetId, filters, ...paging });
    return { data: toDevicePaths(page.points), next_page_state: page.nextPageState };
  }
}
