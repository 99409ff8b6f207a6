import { Inject, Injectable } from '@nestjs/common';
import { clampStart, PathHistory } from '@waypost/domain';
import { CLOCK } from '@waypost/platform';
import { PathPageStates } from '../paging/page-states.js';
import { type PathsPageDto, type PathsQueryDto, toDevicePaths } from './paths.dto.js';

/** Where the devices of a fleet were. */
@Injectable()
export class PathsService {
  constructor(
    private readonly paths: PathHistory,
    private readonly pageStates: PathPageStates,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  /** @throws ApiError 400 for a page token of another walk */
  async read(fleetId: string, query: PathsQueryDto): Promise<PathsPageDto> {
    const { startDate, endDate: endAt, deviceIds, limit, pageState } = query;
    const filters = { startAt: startDate, endAt, deviceIds };
    const walk = { fleetId, path: '/public/v1/paths', filters };
    const after = pageState === undefined ? undefined : this.pageStates.open(pageState, walk);
    // Clamped once: every device of a walk is shown from the same moment on, however long the walk takes.
    const startAt = after?.startAt ?? clampStart(startDate, this.nowMs());
    const wanted = { ...filters, fleetId, startAt, limit: limit + 1, after };
    const found = endAt <= startAt ? [] : await this.paths.findPoints(wanted);
    const points = found.slice(0, limit);
    const last = found.length > limit ? points.at(-1) : undefined;
    const next = last && { startAt, deviceId: last.deviceId, eventTime: last.eventTime };
    return {
      data: toDevicePaths(points),
      next_page_state: next === undefined ? null : this.pageStates.seal(next, walk),
    };
  }
}
