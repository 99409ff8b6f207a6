import { ALL_FLEETS } from '@waypost/database';
import { type DeliveryRecord, isAttempt, probeCount, recordNumber } from '@waypost/domain';
import { addDurations, durationBucket } from './duration-histogram.js';
import { ATTEMPT_CLASSES, classOf, type Figures, noFigures } from './figures.js';

const MINUTE_MS = 60_000;

/** Minutes of a bucket. Buckets begin at whole multiples since 1970, in UTC. */
export const FIGURE_STEPS = { minute: 1, hour: 60, day: 1_440 } as const;
export type FigureStep = keyof typeof FIGURE_STEPS;

/**
 * The column `step` of rows that include minutes. Not the number of minutes, which earlier versions use: they would not
 * understand these rows, and may run beside this one.
 */
export const ROW_STEPS = { hour: 61, day: 1_441 } as const;

export function bucketStart(atMs: number, step: FigureStep): number {
  const stepMs = FIGURE_STEPS[step] * MINUTE_MS;
  return Math.floor(atMs / stepMs) * stepMs;
}

/** A delivery with only the attempts of a batch. */
type CountedDelivery = Omit<DeliveryRecord, 'body'>;

/** A delivery before a batch adds to it. */
export interface StoredDelivery {
  readonly lastRecord: number;
  readonly probes: number;
  /** null while the delivery is pending. */
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

/** Whose figures they are. */
interface Counted {
  /** ALL_FLEETS: the row is one fleet among all, with its id in place of the subscription's. */
  readonly fleetId: string;
  readonly subscriptionId: string;
  /** Empty for a fleet among all. */
  readonly eventType: string;
}

/** What is counted of one subscription and event type, or of one fleet among all, on one UTC day. */
export interface CountedDay extends Counted {
  readonly startAt: number;
  /** By the minute of the day. */
  readonly minutes: Map<number, Figures>;
}

/**
 * What a batch adds to the figures. A delivery and all its attempts count in the minute of its first attempt, as
 * in the windows of the history: a late attempt changes an old minute.
 *
 * It counts twice, for its subscription and for its fleet among all: operators ask for thousands of subscriptions at
 * once.
 */
export class CountedFigures {
  private readonly days = new Map<string, CountedDay>();

  add({ delivery, before }: WrittenDelivery): void {
    const { fleetId, firstAttemptAt } = delivery;
    addDelivery(this.figuresOf(delivery, firstAttemptAt), delivery, before);
    const amongAll = { fleetId: ALL_FLEETS, subscriptionId: fleetId, eventType: '' };
    addDelivery(this.figuresOf(amongAll, firstAttemptAt), delivery, before);
  }

  private figuresOf({ fleetId, subscriptionId, eventType }: Counted, firstAttemptAt: number): Figures {
    const startAt = bucketStart(firstAttemptAt, 'day');
    const name = `${subscriptionId}/${String(startAt)}/${eventType}/${fleetId}`;
    let day = this.days.get(name);
    if (day === undefined)
      this.days.set(name, (day = { fleetId, subscriptionId, eventType, startAt, minutes: new Map() }));
    const minute = Math.floor((firstAttemptAt - startAt) / MINUTE_MS);
    let figures = day.minutes.get(minute);
    if (figures === undefined) day.minutes.set(minute, (figures = noFigures()));
    return figures;
  }

  all(): readonly CountedDay[] {
    return [...this.days.values()];
  }
}

function addDelivery(figures: Figures, delivery: CountedDelivery, before: StoredDelivery): void {
  if (before.lastRecord === 0) figures.started += 1;
  const last = delivery.attempts.at(-1);
  if (last === undefined || recordNumber(last) <= before.lastRecord) return;
  figures.probes += probeCount(delivery) - before.probes;
  for (const entry of delivery.attempts) {
    if (recordNumber(entry) <= before.lastRecord || !isAttempt(entry)) continue;
    const { attempt, statusCode, startedAt, dueAt } = entry;
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
