import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import { createAvroCodecs, createSchemaRegistry, topics } from '@waypost/contracts';
import { projectFile } from '../../tools/dev-stack/project-root.js';
import { alertsOf, dashboardExpressions } from '../monitoring/deployed-expressions.js';
import { type Prometheus, prometheusProgram, startPrometheus } from '../support/prometheus.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { runningWaypost } from '../support/running-waypost.js';
import { subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { sharedDataDir } from '../support/waypost-config.js';

/** Sets records aside, which other tests count: with npm run test:long. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const program = prometheusProgram();
if (isLong && program === null)
  process.stderr.write('No Prometheus is tested: npm run test:alerts unpacks one, PROMETHEUS names another.\n');

const fleet = 'prometheus';
const device = 'van-1';
/** Backlogs count from an hour on. */
const AGE_MS = 2 * 3_600_000;
/** A delivery to an endpoint that is silent takes longer, so one is unfinished at any time. */
const BETWEEN_OLD_MS = 20_000;
const startAt = Date.UTC(2026, 4, 4, 8);
const rules = projectFile('deploy/prometheus/rules.yml');
const panels = dashboardExpressions(projectFile('deploy/grafana'));
const alerts = alertsOf(readFileSync(rules, 'utf8'));

/** What an alert compares, or the metrics whose absence it waits for: while all is well, the alert itself has no series. */
function watchedBy(expression: string): string[] {
  const awaited = [...expression.matchAll(/absent\((.*?)\)(?: or |$)/g)].map(([, selector = '']) => selector);
  if (awaited.length > 0) return awaited;
  // A product that works has no answers of 500.
  return [expression.replace(/ (>|==) [\d.* ]+$/, '').replace('{status=~"5.."}', '')];
}

(isLong && program !== null ? describe : describe.skip)('Prometheus, on a product that works', () => {
  const waypost = runningWaypost(sharedDataDir());
  let receiver: Receiver;
  let prometheus: Prometheus;
  let oldDeliveries: Promise<void>;
  const ended = new AbortController();

  beforeAll(async () => {
    const { adminUrls } = JSON.parse(readFileSync(join(waypost.dataDir, 'stack.json'), 'utf8')) as {
      adminUrls: readonly string[];
    };
    const targets = adminUrls.map((url) => new URL(url).host);
    prometheus = await startPrometheus({ program: String(program), targets, rules });
    receiver = await startReceiver(({ path }) =>
      path === '/silent' ? { type: 'hang' } : { type: 'respond', status: path === '/good' ? 200 : 503 },
    );
    await waypost.createFleet(fleet);
    const [subscription] = await subscribe(waypost, { fleet, url: receiver.url('/good'), types: ['position'] });
    await subscribe(waypost, { fleet, url: receiver.url('/bad'), types: ['position'] });
    const [silent] = await subscribe(waypost, { fleet, url: receiver.url('/silent'), types: ['position'] });
    await publish(topics.fleetEvents.name, device, 'no event');
    await traffic();
    oldDeliveries = deliverOld(String(silent?.id), String(receiver.calls[0]?.body));
    await waypost.api(fleet, 'POST', `/public/v1/webhook-subscriptions/${String(subscription?.id)}/replays`, {
      startDate: new Date(Date.now() - 3_600_000).toISOString(),
      endDate: new Date(Date.now() + 60_000).toISOString(),
    });
    await refusedByLimit();
  });
  afterAll(async () => {
    ended.abort();
    await oldDeliveries;
    await prometheus.stop();
    await receiver.close();
  });

  async function publish(topic: string, key: string, value: Buffer | string): Promise<void> {
    const producer = new Kafka({ brokers: [...waypost.info().brokers], logLevel: logLevel.NOTHING }).producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ key, value }] });
    await producer.disconnect();
  }

  /** As after an outage of hours. */
  async function deliverOld(subscriptionId: string, body: string): Promise<void> {
    const registry = createSchemaRegistry({ url: waypost.info().registryUrl });
    const codec = createAvroCodecs({ registry }).webhookDeliveries;
    await codec.prepare();
    while (!ended.signal.aborted) {
      const createdAt = Date.now() - AGE_MS;
      const event = { eventId: randomUUID(), deviceId: device, eventType: 'position', eventTime: createdAt };
      const sent = { subscriptionId, fleetId: fleet, format: 'v1', body, createdAt, series: 0, replayId: null };
      await publish(topics.webhookDeliveries.name, subscriptionId, codec.encode({ ...event, ...sent }));
      await sleep(BETWEEN_OLD_MS, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  }

  async function traffic(): Promise<void> {
    const pings = Array.from({ length: 100 }, (_, index) => ({
      deviceId: device,
      latitude: 52.1,
      longitude: 11.6,
      eventTime: new Date(startAt + index * 300_000).toISOString(),
    }));
    await waypost.publish(fleet, pings);
    await until(() => receiver.calls.length > 0);
  }

  async function refusedByLimit(): Promise<void> {
    const url = new URL('/public/v1/session', waypost.info().apiUrl);
    const statuses = await Promise.all(Array.from({ length: 300 }, async () => (await fetch(url)).status));
    expect(statuses).toContain(429);
  }

  /** At any time since the start: what is past due, for one, is so for a moment. */
  const hasSeries = (expression: string) =>
    until(async () => (await prometheus.query(`last_over_time((${expression})[15m:1s])`)).length > 0, {
      timeoutMs: 60_000,
    });

  it.each(panels)('shows something in $of: $expression', async ({ expression }) => {
    await hasSeries(expression);
  });

  it.each(alerts)('has what $name looks at', async ({ expression }) => {
    for (const watched of watchedBy(expression)) await hasSeries(watched);
  });

  it('evaluates every rule', async () => {
    await until(async () => {
      const { groups } = await prometheus.get<{
        groups: readonly { rules: readonly { name: string; health: string; lastError?: string }[] }[];
      }>('/api/v1/rules');
      const found = groups.flatMap((group) => group.rules);
      expect(found.map(({ name, health, lastError }) => [name, health, lastError])).toEqual(
        alerts.map(({ name }) => [name, 'ok', undefined]),
      );
    });
  });
});
