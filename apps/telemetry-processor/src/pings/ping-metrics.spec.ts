import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { PingMetrics } from './ping-metrics.js';

it('the counters continue from scrape to scrape, those of decisions from 0', async () => {
  const registry = new Registry();
  const metrics = new PingMetrics(registry);
  const scrape = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('waypost_'));

  metrics.pingDecided('accepted');
  metrics.pingDecided('late');
  metrics.pingDecided('accepted');
  metrics.eventEmitted('position');
  expect(await scrape()).toEqual([
    'waypost_pings_total{decision="accepted"} 2',
    'waypost_pings_total{decision="late"} 1',
    'waypost_pings_total{decision="duplicate"} 0',
    'waypost_pings_total{decision="expired"} 0',
    'waypost_pings_total{decision="rejected"} 0',
    'waypost_events_total{event_type="position"} 1',
  ]);

  metrics.pingDecided('accepted');
  expect(await scrape()).toContain('waypost_pings_total{decision="accepted"} 3');
});
