import { formatTime } from '@waypost/domain';
import { ATTEMPT_CLASSES, type FigureRow, percentiles, type SummedFigures } from '@waypost/history-store';
import type { ShownBucket, ShownFigures } from './delivery-metrics.dto.js';

/** To be called for the rows of an answer in the order of time: those that are split have a time in common. */
export function createBucketText(groupBy: 'none' | 'subscription' | 'eventType'): (row: FigureRow) => ShownBucket {
  let lastAt = NaN;
  let startDate = '';
  return (row) => {
    if (row.startAt !== lastAt) startDate = formatTime((lastAt = row.startAt));
    return toBucket(row, startDate, groupBy);
  };
}

/** There are thousands in an answer, so each has its fields written out: spreading them takes ten times as long. */
function toBucket({ group, figures }: FigureRow, startDate: string, groupBy: string): ShownBucket {
  return {
    startDate,
    subscriptionId: groupBy === 'subscription' ? group : undefined,
    eventType: groupBy === 'eventType' ? group : undefined,
    deliveries: deliveriesOf(figures),
    attempts: attemptsOf(figures.attempts),
    retries: figures.retries,
    probes: figures.probes,
    latencyMs: percentilesOf(figures.latency),
    retryLatenessMs: percentilesOf(figures.retryLateness),
  };
}

export function toFigures(figures: SummedFigures): ShownFigures {
  return {
    deliveries: deliveriesOf(figures),
    attempts: attemptsOf(figures.attempts),
    retries: figures.retries,
    probes: figures.probes,
    latencyMs: percentilesOf(figures.latency),
    retryLatenessMs: percentilesOf(figures.retryLateness),
  };
}

/** Deliveries that began before the figures were kept ended without having been counted. */
function deliveriesOf({ started, delivered, failed, expired }: SummedFigures): ShownFigures['deliveries'] {
  return { delivered, failed, expired, pending: Math.max(0, started - delivered - failed - expired) };
}

function attemptsOf(counts: SummedFigures['attempts']): ShownFigures['attempts'] {
  const shown: ShownFigures['attempts'] = {};
  for (let index = 0; index < ATTEMPT_CLASSES.length; index += 1)
    shown[ATTEMPT_CLASSES[index] ?? ''] = counts[index] ?? 0;
  return shown;
}

function percentilesOf(counts: SummedFigures['latency']): ShownFigures['latencyMs'] {
  const [p50, p95, p99] = percentiles(counts, [0.5, 0.95, 0.99]);
  return p50 == null || p95 == null || p99 == null ? undefined : { p50, p95, p99 };
}
