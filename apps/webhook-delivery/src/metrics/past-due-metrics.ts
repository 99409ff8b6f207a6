import { Gauge, type Registry } from 'prom-client';

const KINDS = ['first', 'retry'] as const;
type Kind = (typeof KINDS)[number];

interface PastDueDeliveries {
  readonly count: number;
  /** Monotonic; Infinity: nothing waits. */
  readonly sinceMs: number;
}

/** The deliveries of a subscription that could be sent now but are not. */
export type PastDueSubscription = Readonly<Record<Kind, PastDueDeliveries>> & { readonly subscriptionId: string };

/** Called at every scrape. */
export type PastDueSource = () => Iterable<PastDueSubscription>;

export interface PastDueMetrics {
  /** Adds a partition. @returns removes it */
  watchPastDue(source: PastDueSource): () => void;
}

/** A scrape names at most this many subscriptions. */
const WORST = 10;

/** Measures work that could be done now but is not. Read at the scrape, since waiting work causes no events. */
export function createPastDueMetrics(registry: Registry, monotonicMs: () => number): PastDueMetrics {
  const sources = new Set<PastDueSource>();
  const registers = [registry];
  new Gauge({
    name: 'waypost_deliveries_past_due',
    help:
      'Deliveries in memory that could be sent now but are not: retries that are due (retry), and deliveries ' +
      'that wait for a reservation or a slot (first). Paused, suspended, paced and strictly ordered ones do not count.',
    labelNames: ['kind'],
    registers,
    // Also sets the other two, which are registered later and so collected later: one walk per scrape.
    collect() {
      const pastDue = [...sources].flatMap((source) => [...source()]);
      const atMs = monotonicMs();
      for (const kind of KINDS) {
        this.set({ kind }, sum(pastDue.map((one) => one[kind].count)));
        oldest.set({ kind }, secondsBetween(earliest(pastDue.map((one) => one[kind].sinceMs)), atMs));
      }
      worst.reset();
      for (const [subscription, sinceMs] of worstOf(pastDue))
        worst.set({ subscription }, secondsBetween(sinceMs, atMs));
    },
  });
  const oldest = new Gauge({
    name: 'waypost_delivery_past_due_seconds',
    help: 'How long the oldest past-due delivery has been past due; 0 if there is none.',
    labelNames: ['kind'],
    registers,
  });
  const worst = new Gauge({
    name: 'waypost_subscription_past_due_seconds',
    help: 'How long the oldest past-due delivery of a subscription has been past due, for the ten that have waited longest.',
    labelNames: ['subscription'],
    registers,
  });
  return {
    watchPastDue: (source) => {
      sources.add(source);
      return () => sources.delete(source);
    },
  };
}

function worstOf(pastDue: readonly PastDueSubscription[]): [string, number][] {
  return pastDue
    .map(({ subscriptionId, first, retry }): [string, number] => [
      subscriptionId,
      Math.min(first.sinceMs, retry.sinceMs),
    ])
    .sort(([, a], [, b]) => a - b)
    .slice(0, WORST);
}

function earliest(times: readonly number[]): number {
  return times.reduce((least, time) => Math.min(least, time), Infinity);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function secondsBetween(from: number, to: number): number {
  return Number.isFinite(from) ? Math.max(0, to - from) / 1_000 : 0;
}
