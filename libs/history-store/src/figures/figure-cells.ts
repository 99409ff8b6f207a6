import { type DeliveryRecord, isAttempt, probeCount, recordNumber } from '@waypost/domain';
import { addDurations, durationBucket } from './duration-histogram.js';
import { addFigures, ATTEMPT_CLASSES, classOf, type Figures, noFigures, summed } from './figures.js';

const MINUTE_MS = 60_000;

/** Minutes of a bucket. Buckets begin at whole multiples since 1970, in UTC. */
export const FIGURE_STEPS = { minute: 1, hour: 60, day: 1_440 } as const;
export type FigureStep = keyof typeof FIGURE_STEPS;

export function bucketStart(atMs: number, step: FigureStep): number {
  const stepMs = FIGURE_STEPS[step] * MINUTE_MS;
  return Math.floor(atMs / stepMs) * stepMs;
}

/** A delivery with the attempts of a batch only. */
type CountedDelivery = Omit<DeliveryRecord, 'body'>;

/** Before a batch adds to it. */
export interface StoredDelivery {
  readonly lastRecord: number;
  readonly probes: number;
  /** Null while the delivery is pending. */
  readonly end: DeliveryEnd | null;
}

export type DeliveryEnd =
  | { readonly outcome: 'delivered'; readonly latencyMs: number }
  | { readonly outcome: 'failed' | 'expired' };

export const NOT_STORED: StoredDelivery = { lastRecord: 0, probes: 0, end: null };

export interface WrittenDelivery {
  readonly delivery: CountedDelivery;
  readonly before: StoredDelivery;
}

/** The figures of one subscription and event type in one bucket of time. */
export interface FigureCell {
  readonly fleetId: string;
  readonly subscriptionId: string;
  readonly eventType: string;
  readonly step: FigureStep;
  readonly startAt: number;
  readonly figures: Figures;
}

/**
 * What a batch adds to the figures. A delivery and all its attempts count in the bucket of its first attempt, as it
 * does in the windows of the history: a late attempt changes an old bucket.
 */
export function figureCells(written: readonly WrittenDelivery[]): FigureCell[] {
  const minutes = new Map<string, FigureCell>();
  for (const { delivery, before } of written) addDelivery(cellOf(minutes, delivery, 'minute'), delivery, before);
  const hours = coarser(minutes, 'hour');
  return [...minutes.values(), ...hours.values(), ...coarser(hours, 'day').values()];
}

type CellKey = Pick<CountedDelivery, 'fleetId' | 'subscriptionId' | 'eventType' | 'firstAttemptAt'>;

function cellOf(cells: Map<string, FigureCell>, key: CellKey, step: FigureStep): Figures {
  const { fleetId, subscriptionId, eventType, firstAttemptAt } = key;
  const startAt = bucketStart(firstAttemptAt, step);
  const name = `${subscriptionId}/${String(startAt)}/${eventType}/${fleetId}`;
  let cell = cells.get(name);
  if (cell === undefined) {
    cell = { fleetId, subscriptionId, eventType, step, startAt, figures: noFigures() };
    cells.set(name, cell);
  }
  return cell.figures;
}

function coarser(finer: ReadonlyMap<string, FigureCell>, step: FigureStep): Map<string, FigureCell> {
  const cells = new Map<string, FigureCell>();
  for (const cell of finer.values())
    addFigures(cellOf(cells, { ...cell, firstAttemptAt: cell.startAt }, step), summed(cell.figures));
  return cells;
}

function addDelivery(figures: Figures, delivery: CountedDelivery, before: StoredDelivery): void {
  if (before.lastRecord === 0) figures.started += 1;
  const added = delivery.attempts.filter((entry) => recordNumber(entry) > before.lastRecord);
  const last = added.at(-1);
  if (last === undefined) return;
  figures.probes += probeCount(delivery) - before.probes;
  for (const { attempt, statusCode, startedAt, dueAt } of added.filter(isAttempt)) {
    const place = ATTEMPT_CLASSES.indexOf(classOf(statusCode));
    figures.attempts[place] = (figures.attempts[place] ?? 0) + 1;
    if (attempt === 1) continue;
    figures.retries += 1;
    addDurations(figures.retryLateness, durationBucket(startedAt - dueAt), 1);
  }
  addEnd(figures, before.end, -1);
  addEnd(figures, endOf(delivery, last.outcome), 1);
}

function addEnd(figures: Figures, end: DeliveryEnd | null, count: 1 | -1): void {
  if (end === null) return;
  figures[end.outcome] += count;
  if (end.outcome === 'delivered') addDurations(figures.latency, durationBucket(end.latencyMs), count);
}

/** How a delivery ended, by the outcome of its last record. */
export function endOf(
  { createdAt, deliveredAt }: Pick<CountedDelivery, 'createdAt' | 'deliveredAt'>,
  outcome: string,
): DeliveryEnd | null {
  if (deliveredAt !== null) return { outcome: 'delivered', latencyMs: deliveredAt - createdAt };
  return outcome === 'failed' || outcome === 'expired' ? { outcome } : null;
}
