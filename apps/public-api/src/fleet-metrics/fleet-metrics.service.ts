import { Inject, Injectable } from '@nestjs/common';
import { ALL_FLEETS } from '@waypost/database';
import { DeliveryFigures, type FigureSum } from '@waypost/history-store';
import { CLOCK } from '@waypost/platform';
import type { FiguresDto } from '../delivery-metrics/delivery-metrics.dto.js';
import { figureWindowOf, tooManyFigures } from '../delivery-metrics/figure-window.js';
import { createBucketText, toFigures } from '../delivery-metrics/shown-figures.js';
import type { AllFiguresQueryDto, FleetTotalsDto, FleetTotalsQueryDto } from './fleet-metrics.dto.js';

/** The figures of all fleets, for operators. @throws ApiError 400 for more than one answer may have */
@Injectable()
export class FleetMetricsService {
  constructor(
    private readonly figures: DeliveryFigures,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  async overTime(query: AllFiguresQueryDto): Promise<FiguresDto> {
    const window = figureWindowOf(query, this.nowMs());
    if (window === null) return { data: [] };
    const asked = { fleetId: ALL_FLEETS, ...window, groupBy: 'none' } as const;
    const found = await this.figures.read(asked, createBucketText('none'));
    if (found.type === 'too_many') throw tooManyFigures();
    return { data: [...found.rows] };
  }

  async totals({ limit, ...query }: FleetTotalsQueryDto): Promise<FleetTotalsDto> {
    const window = figureWindowOf(query, this.nowMs());
    if (window === null) return { data: [], fleets: 0 };
    const found = await this.figures.sum({ fleetId: ALL_FLEETS, ...window, groupBy: 'fleet' });
    if (found.type === 'too_many') throw tooManyFigures();
    const worst = found.rows.toSorted(worstFirst).slice(0, limit);
    return {
      data: worst.map(({ group, figures }) => ({ fleetId: group, ...toFigures(figures) })),
      fleets: found.rows.length,
    };
  }
}

function worstFirst({ figures: a }: FigureSum, { figures: b }: FigureSum): number {
  return b.failed + b.expired - (a.failed + a.expired) || b.retries - a.retries || b.started - a.started;
}
