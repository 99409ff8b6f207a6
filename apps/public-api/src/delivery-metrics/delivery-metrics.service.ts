import { Inject, Injectable } from '@nestjs/common';
import { DeliveryFigures, type FiguresQuery, type FiguresResult } from '@waypost/history-store';
import { CLOCK } from '@waypost/platform';
import { type Visibility, visibilityFilter } from '../auth/caller.js';
import type { FiguresDto, FiguresQueryDto, ShownBucket } from './delivery-metrics.dto.js';
import { figureWindowOf, tooManyFigures } from './figure-window.js';
import { createBucketText } from './shown-figures.js';

/** The figures of a fleet's deliveries. */
@Injectable()
export class DeliveryMetricsService {
  constructor(
    private readonly figures: DeliveryFigures,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  /** @throws ApiError 400 for more buckets or stored figures than one answer may have */
  async read(caller: Visibility, query: FiguresQueryDto): Promise<FiguresDto> {
    const { subscriptionId, eventType: eventTypes, groupBy, total } = query;
    const window = figureWindowOf(query, this.nowMs());
    if (window === null) return { data: [] };
    const { fleetId } = caller;
    const asked = { fleetId, ...visibilityFilter(caller), ...window, groupBy, subscriptionId, eventTypes };
    const toBucket = createBucketText(groupBy);
    const found = await (total ? this.total(asked, toBucket) : this.figures.read(asked, toBucket));
    if (found.type === 'too_many') throw tooManyFigures();
    return { data: [...found.rows] };
  }

  private async total(
    query: FiguresQuery,
    toBucket: ReturnType<typeof createBucketText>,
  ): Promise<FiguresResult<ShownBucket>> {
    const found = await this.figures.sum(query);
    if (found.type === 'too_many') return found;
    return { type: 'figures', rows: found.rows.map((sum) => toBucket({ startAt: query.startAt, ...sum })) };
  }
}
