import { Gauge, type Registry } from 'prom-client';
import { HOUR_MS, type WebhookDelivery } from '@waypost/domain';

/** The oldest unfinished delivery of a subscription that is not paused. */
export type OldestDelivery = Pick<WebhookDelivery, 'subscriptionId' | 'fleetId' | 'createdAt'>;

/** Called at every scrape. @param createdBefore epoch ms: younger ones are left out */
export type BacklogSource = (createdBefore: number) => Iterable<OldestDelivery>;

export interface BacklogMetrics {
  /** Adds a partition. @returns removes it */
  watchBacklogs(source: BacklogSource): () => void;
}

/** A scrape names at most this many subscriptions. */
const OLDEST = 10;
/** Short retries are in every backlog, and would name other subscriptions at each scrape. */
const LEAST_AGE_MS = HOUR_MS;

/** Whether a backlog is sent before its deliveries expire, in memory or in the log. */
export function createBacklogMetrics(registry: Registry, nowMs: () => number): BacklogMetrics {
  const sources = new Set<BacklogSource>();
  new Gauge({
    name: 'waypost_subscription_backlog_seconds',
    help:
      'Age of the oldest unfinished delivery of a subscription, for the ten oldest that are over an hour old. Subscriptions that ' +
      'their owners have paused are left out.',
    labelNames: ['fleet', 'subscription'],
    registers: [registry],
    collect() {
      this.reset();
      const atMs = nowMs();
      for (const { fleetId: fleet, subscriptionId: subscription, createdAt } of oldestOf(sources, atMs - LEAST_AGE_MS))
        this.set({ fleet, subscription }, (atMs - createdAt) / 1_000);
    },
  });
  return {
    watchBacklogs: (source) => {
      sources.add(source);
      return () => sources.delete(source);
    },
  };
}

/** Takes one pass: sorting all backlogs of a large installation would delay retries. */
function oldestOf(sources: Iterable<BacklogSource>, createdBefore: number): readonly OldestDelivery[] {
  const oldest: OldestDelivery[] = [];
  for (const source of sources) for (const delivery of source(createdBefore)) insert(oldest, delivery);
  return oldest;
}

/** @param oldest sorted, oldest first */
function insert(oldest: OldestDelivery[], delivery: OldestDelivery): void {
  const { createdAt } = delivery;
  const last = oldest.at(-1);
  if (oldest.length === OLDEST && last !== undefined && last.createdAt <= createdAt) return;
  const younger = oldest.findIndex((one) => one.createdAt > createdAt);
  oldest.splice(younger < 0 ? oldest.length : younger, 0, delivery);
  if (oldest.length > OLDEST) oldest.pop();
}
