import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { DAY_MS, HOUR_MS } from '@waypost/domain';
import { createBacklogMetrics } from './backlog-metrics.js';

const NOW = 20 * DAY_MS;

/** The series of the registry, without help and types. */
async function shown(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => /^[^#]/.test(line));
}

describe('the metric of old backlogs (R-26, R-29)', () => {
  it('is the age of the oldest delivery of a subscription, over all partitions, the oldest first', async () => {
    const registry = new Registry();
    const metrics = createBacklogMetrics(registry, () => NOW);
    metrics.watchBacklogs(() => [{ subscriptionId: 'a', createdAt: NOW - DAY_MS }]);
    metrics.watchBacklogs(() => [{ subscriptionId: 'b', createdAt: NOW - 13 * DAY_MS }]);
    expect(await shown(registry)).toEqual([
      'waypost_subscription_backlog_seconds{subscription="b"} 1123200',
      'waypost_subscription_backlog_seconds{subscription="a"} 86400',
    ]);
  });

  it('names no subscription whose deliveries are an hour old or younger, as retries are', async () => {
    const registry = new Registry();
    createBacklogMetrics(registry, () => NOW).watchBacklogs(() => [
      { subscriptionId: 'a', createdAt: NOW - HOUR_MS },
      { subscriptionId: 'b', createdAt: NOW - HOUR_MS - 1_000 },
    ]);
    expect(await shown(registry)).toEqual(['waypost_subscription_backlog_seconds{subscription="b"} 3601']);
  });

  it('names the ten oldest, and none of a partition that is closed or of a backlog that is over', async () => {
    const registry = new Registry();
    const metrics = createBacklogMetrics(registry, () => NOW);
    const ofDays = (days: number) => ({ subscriptionId: `s${String(days)}`, createdAt: NOW - days * DAY_MS });
    const stop = metrics.watchBacklogs(() => Array.from({ length: 14 }, (_, n) => ofDays(n + 1)));
    const named = await shown(registry);
    expect([named.length, named[0]]).toEqual([10, 'waypost_subscription_backlog_seconds{subscription="s14"} 1209600']);
    stop();
    expect(await shown(registry)).toEqual([]);
  });
});
