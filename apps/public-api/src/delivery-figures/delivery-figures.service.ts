import { Inject, Injectable } from '@nestjs/common';
import { DeliveryFigures } from '@waypost/history-store';
import { CLOCK } from '@waypost/platform';
import { type Visibility, visibilityFilter } from '../auth/caller.js';
import type { FiguresDto, FiguresQueryDto } from './delivery-figures.dto.js';
import { figureWindowOf, tooManyFigures } from './figure-window.js';
import { createBucketText } from './shown-figures.js';

/** The figures of a fleet's deliveries. */
@Injectable()
export class DeliveryFiguresService {
  constructor(
    private readonly figures: DeliveryFigures,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  /** @throws ApiError 400 for more buckets or stored figures than one answer may have */
  async read(caller: Visibility, query: FiguresQueryDto): Promise<FiguresDto> {
    const { subscriptionId, eventType: eventTypes, groupBy } = query;
    const window = figureWindowOf(query, this.now());
    if (window === null) return { data: [] };
    const { fleetId } = caller;
    const asked = { fleetId, ...visibilityFilter(caller), ...window, groupBy, subscriptionId, eventTypes };
    const found = await this.figures.read(asked, createBucketText(groupBy));
    if (found.type === 'too_many') throw tooManyFigures();
    return { data: [...found.rows] };
  }
}
