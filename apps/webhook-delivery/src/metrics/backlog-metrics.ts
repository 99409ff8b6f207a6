import { Gauge, type Registry } from 'prom-client';
import { HOUR_MS } from '@waypost/domain';

/** A subscription that is not paused, with unfinished deliveries. */
export interface WaitingSubscription {
  readonly subscriptionId: string;
  /** When the oldest of them was created, epoch ms. */
  readonly createdAt: number;
}

/** Called at every scrape. */
export type BacklogSource = () => Iterable<WaitingSubscription>;

export interface BacklogMetrics {
  /** Adds a partition. @returns removes it */
  watchBacklogs(source: BacklogSource): () => void;
}

/** However many subscriptions there are, a scrape names no more. */
const OLDEST = 10;
/** Retries of some minutes are in every backlog, of another subscription at each scrape. */
const LEAST_AGE_MS = HOUR_MS;

/** Whether a backlog is sent before its deliveries expire, in memory or in the log. */
export function createBacklogMetrics(registry: Registry, nowMs: () => number): BacklogMetrics {
  const sources = new Set<BacklogSource>();
  new Gauge({
    name: 'waypost_subscription_backlog_seconds',
    help:
      'Age of the oldest unfinished delivery of a subscription that is not paused, of the ten where it is highest and over an hour. ' +
      'A delivery expires after 15 days.',
    labelNames: ['subscription'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { subscriptionId, ageMs } of oldestOf(sources, nowMs()))
        this.set({ subscription: subscriptionId }, ageMs / 1_000);
    },
  });
  return {
    watchBacklogs: (source) => {
      sources.add(source);
      return () => sources.delete(source);
    },
  };
}

function oldestOf(
  sources: Iterable<BacklogSource>,
  atMs: number,
): readonly { readonly subscriptionId: string; readonly ageMs: number }[] {
  return [...sources]
    .flatMap((source) => [...source()])
    .map(({ subscriptionId, createdAt }) => ({ subscriptionId, ageMs: atMs - createdAt }))
    .filter(({ ageMs }) => ageMs > LEAST_AGE_MS)
    .sort((a, b) => b.ageMs - a.ageMs)
    .slice(0, OLDEST);
}
