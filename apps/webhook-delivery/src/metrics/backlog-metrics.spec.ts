import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { DAY_MS, HOUR_MS } from '@waypost/domain';
import { createBacklogMetrics, type OldestDelivery } from './backlog-metrics.js';

const NOW = 20 * DAY_MS;

/** The series of the registry, without help and types. */
async function shown(registry: Registry): Promise<string[]> {
  return (await registry.metrics()).split('\n').filter((line) => /^[^#]/.test(line));
}

function of(subscriptionId: string, ageMs: number): OldestDelivery {
  return { subscriptionId, fleetId: 'f', createdAt: NOW - ageMs };
}

describe('the metric of old backlogs (R-26, R-29)', () => {
  it('is the age of the oldest delivery of a subscription with its fleet, over all partitions, the oldest first', async () => {
    const registry = new Registry();
    const metrics = createBacklogMetrics(registry, () => NOW);
    metrics.watchBacklogs(() => [of('a', DAY_MS)]);
    metrics.watchBacklogs(() => [of('b', 13 * DAY_MS)]);
    expect(await shown(registry)).toEqual([
      'waypost_subscription_backlog_seconds{fleet="f",subscription="b"} 1123200',
      'waypost_subscription_backlog_seconds{fleet="f",subscription="a"} 86400',
    ]);
  });

  it('asks for none whose deliveries are an hour old or younger, as retries are', async () => {
    const registry = new Registry();
    const asked: number[] = [];
    createBacklogMetrics(registry, () => NOW).watchBacklogs((createdBefore) => {
      asked.push(createdBefore);
      return [];
    });
    expect([await shown(registry), asked]).toEqual([[], [NOW - HOUR_MS]]);
  });

  it('names the ten oldest, in whatever order they come, and none of a partition that is closed', async () => {
    const registry = new Registry();
    const metrics = createBacklogMetrics(registry, () => NOW);
    const days = [3, 14, 1, 9, 12, 5, 7, 2, 13, 4, 11, 6, 10, 8];
    const stop = metrics.watchBacklogs(() => days.map((n) => of(`s${String(n)}`, n * DAY_MS)));
    const named = (await shown(registry)).map((line) => /subscription="(\w+)"/.exec(line)?.[1]);
    expect(named).toEqual(['s14', 's13', 's12', 's11', 's10', 's9', 's8', 's7', 's6', 's5']);
    stop();
    expect(await shown(registry)).toEqual([]);
  });
});
