import { Inject, Injectable } from '@nestjs/common';
import { clampStart, formatTime } from '@waypost/domain';
import {
  ATTEMPT_CLASSES,
  bucketStart,
  DeliveryFigures,
  FIGURE_STEPS,
  type FigureRow,
  percentiles,
  type SummedFigures,
} from '@waypost/history-store';
import { CLOCK } from '@waypost/platform';
import { type Visibility, visibilityFilter } from '../auth/caller.js';
import { invalidParameters } from '../errors/api-error.js';
import type { FiguresDto, FiguresQueryDto, ShownBucket } from './delivery-figures.dto.js';

const MINUTE_MS = 60_000;
/** A day of minutes. */
const MAX_BUCKETS = 1_440;

/** The figures of a fleet's deliveries. */
@Injectable()
export class DeliveryFiguresService {
  constructor(
    private readonly figures: DeliveryFigures,
    @Inject(CLOCK) private readonly now: () => number,
  ) {}

  /** @throws ApiError 400 for more buckets or stored figures than one answer may have */
  async read(caller: Visibility, query: FiguresQueryDto): Promise<FiguresDto> {
    const { startDate, endDate, step, subscriptionId, eventType: eventTypes, groupBy } = query;
    const startAt = bucketStart(clampStart(startDate, this.now()), step);
    // Nothing has begun yet after the minute that is running.
    const endAt = Math.min(endDate, this.now() + MINUTE_MS);
    if (endAt <= startAt) return { data: [] };
    if ((endAt - startAt) / (FIGURE_STEPS[step] * MINUTE_MS) > MAX_BUCKETS) {
      throw invalidParameters([{ parameter: 'step', message: `gives more than ${String(MAX_BUCKETS)} buckets` }]);
    }
    const found = await this.figures.read({
      fleetId: caller.fleetId,
      ...visibilityFilter(caller),
      startAt,
      endAt,
      step,
      groupBy,
      subscriptionId,
      eventTypes,
    });
    if (found.type === 'too_many') {
      const message =
        'needs more figures than one response can aggregate: use a longer step, a shorter window or a filter';
      throw invalidParameters([{ parameter: 'step', message }]);
    }
    return { data: toBuckets(found.rows, groupBy) };
  }
}

/** @param rows in the order of time */
function toBuckets(rows: Iterable<FigureRow>, groupBy: FiguresQueryDto['groupBy']): ShownBucket[] {
  const buckets: ShownBucket[] = [];
  let lastAt = NaN;
  let startDate = '';
  for (const row of rows) {
    // Those that are split have a time in common.
    if (row.startAt !== lastAt) startDate = formatTime((lastAt = row.startAt));
    buckets.push(toBucket(row, startDate, groupBy));
  }
  return buckets;
}

/** There are thousands in an answer, so each has its fields written out: spreading them takes ten times as long. */
function toBucket({ group, figures }: FigureRow, startDate: string, groupBy: FiguresQueryDto['groupBy']): ShownBucket {
  const { started, delivered, failed, expired, attempts, retries, probes, latency, retryLateness } = figures;
  return {
    startDate,
    subscriptionId: groupBy === 'subscription' ? group : undefined,
    eventType: groupBy === 'eventType' ? group : undefined,
    deliveries: {
      delivered,
      failed,
      expired,
      // Deliveries that began before the figures were kept ended without having been counted.
      pending: Math.max(0, started - delivered - failed - expired),
    },
    attempts: attemptsOf(attempts),
    retries,
    probes,
    latencyMs: percentilesOf(latency),
    retryLatenessMs: percentilesOf(retryLateness),
  };
}

function attemptsOf(counts: SummedFigures['attempts']): ShownBucket['attempts'] {
  const shown: ShownBucket['attempts'] = {};
  for (let index = 0; index < ATTEMPT_CLASSES.length; index += 1)
    shown[ATTEMPT_CLASSES[index] ?? ''] = counts[index] ?? 0;
  return shown;
}

function percentilesOf(counts: SummedFigures['latency']): ShownBucket['latencyMs'] {
  const [p50, p95, p99] = percentiles(counts, [0.5, 0.95, 0.99]);
  return p50 == null || p95 == null || p99 == null ? undefined : { p50, p95, p99 };
}
