import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createPastDueMetrics, type PastDueSubscription } from './past-due-metrics.js';

const NONE = { count: 0, sinceMs: Infinity };

function retrying(subscriptionId: string, sinceMs: number, count = 1): PastDueSubscription {
  return { subscriptionId, first: NONE, retry: { count, sinceMs } };
}

/** The series of the registry, without help and types. */
async function shown(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => /^[^#]/.test(line));
}

describe('the metrics of work that is past due (R-22, R-26)', () => {
  it('count it over all partitions by kind, with the age of the oldest since it was due', async () => {
    const registry = new Registry();
    const metrics = createPastDueMetrics(registry, () => 100_000);
    metrics.watchPastDue(() => [retrying('a', 70_000, 3), retrying('b', 95_000, 2)]);
    metrics.watchPastDue(() => [{ subscriptionId: 'c', first: { count: 4, sinceMs: 98_000 }, retry: NONE }]);
    expect(await shown(registry)).toEqual([
      'waypost_deliveries_past_due{kind="first"} 4',
      'waypost_deliveries_past_due{kind="retry"} 5',
      'waypost_delivery_past_due_seconds{kind="first"} 2',
      'waypost_delivery_past_due_seconds{kind="retry"} 30',
      'waypost_subscription_past_due_seconds{subscription="a"} 30',
      'waypost_subscription_past_due_seconds{subscription="b"} 5',
      'waypost_subscription_past_due_seconds{subscription="c"} 2',
    ]);
  });

  it('are 0, and not absent, while nothing waits', async () => {
    const registry = new Registry();
    createPastDueMetrics(registry, () => 100_000);
    expect(await shown(registry)).toEqual([
      'waypost_deliveries_past_due{kind="first"} 0',
      'waypost_deliveries_past_due{kind="retry"} 0',
      'waypost_delivery_past_due_seconds{kind="first"} 0',
      'waypost_delivery_past_due_seconds{kind="retry"} 0',
    ]);
  });

  it('name the ten subscriptions that wait longest, and none of a partition that is closed', async () => {
    const registry = new Registry();
    const metrics = createPastDueMetrics(registry, () => 100_000);
    const stop = metrics.watchPastDue(() => Array.from({ length: 30 }, (_, n) => retrying(`s${String(n)}`, n * 1_000)));
    const worst = async (): Promise<string[]> =>
      (await shown(registry)).filter((line) => line.startsWith('waypost_subscription_past_due'));
    const named = await worst();
    expect(named).toHaveLength(10);
    expect(named[0]).toBe('waypost_subscription_past_due_seconds{subscription="s0"} 100');
    expect(named[9]).toBe('waypost_subscription_past_due_seconds{subscription="s9"} 91');
    stop();
    expect(await worst()).toEqual([]);
  });
});
