import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { type CollectedSpan, type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { startWaypost, type Waypost } from '../support/start-waypost.js';
import { subscribe, type Subscription } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { pingEncoder } from './ping-encoder.js';

/** Starts a product of its own: with npm run test:long. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
const fleet = 'traced';
const startAt = Date.UTC(2026, 4, 4, 8);
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const producerSpan = '00f067aa0ba902b7';

/** Of each device, what its producer sends as its trace context; null: nothing. */
const devices = {
  sampled: `00-${traceId}-${producerSpan}-01`,
  unsampled: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
  untraced: null,
} as const;

let collector: OtlpCollector;
let receiver: Receiver;
let waypost: Waypost;
let subscriptions: Subscription[];

async function publishPings(): Promise<void> {
  const { brokers, registryUrl } = waypost.info();
  const producer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer({
    createPartitioner: Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  for (const [deviceId, traceparent] of Object.entries(devices)) {
    const pingOf = await pingEncoder(registryUrl, { fleet, deviceId });
    const headers = traceparent === null ? {} : { traceparent };
    const value = pingOf({ eventTime: startAt, receivedTime: startAt });
    await producer.send({ topic: 'telemetry.pings', messages: [{ key: deviceId, value, headers }] });
  }
  await producer.disconnect();
}

/** What the receiver got for a device: two attempts of one event, in their order. */
function callsOf(deviceId: string): { readonly traceId: string; readonly spanId: string; readonly flags: string }[] {
  return receiver.calls
    .filter(({ body }) => body.includes(`"${deviceId}"`))
    .map(({ headers }) => {
      const [, trace = '', spanId = '', flags = ''] = String(headers['traceparent']).split('-');
      return { traceId: trace, spanId, flags };
    });
}

function spansOf(trace: string | undefined): CollectedSpan[] {
  return collector.spans.filter((span) => span.traceId === trace);
}

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan[] {
  return spans.filter((span) => span.name === name).sort((a, b) => a.startedAt - b.startedAt);
}

(isLong ? describe : describe.skip)('The spans of the applications (R-40, R-46)', () => {
  beforeAll(async () => {
    collector = await startOtlpCollector();
    receiver = await startReceiver(({ nth }) => ({ type: 'respond', status: nth === 1 ? 503 : 200 }));
    waypost = await startWaypost({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WAYPOST_TRACE_SAMPLE_RATIO: '1' },
    });
    await waypost.createFleet(fleet);
    subscriptions = await subscribe(waypost, { fleet, url: receiver.url('/'), types: ['position'] });
    await publishPings();
    await waypost.cli('wait', '--idle', '2');
    const complete = (deviceId: string) => spansOf(callsOf(deviceId)[0]?.traceId).length === 6;
    await until(() => complete('sampled') && complete('untraced'), { timeoutMs: 60_000 });
  }, 420_000);

  afterAll(async () => {
    await waypost.stop();
    await Promise.all([receiver.close(), collector.close()]);
  });

  it.each([
    ['the context of a producer', 'sampled', traceId, producerSpan],
    ['no context: the trace begins at the ping', 'untraced', undefined, ''],
  ])('are one trace from the ping to the history, with %s', (_, deviceId, expectedTrace, parentSpanId) => {
    const calls = callsOf(deviceId);
    const spans = spansOf(expectedTrace ?? calls[0]?.traceId);
    const [ping, ...otherPings] = named(spans, 'process telemetry.pings');
    const [delivery, ...otherDeliveries] = named(spans, 'create webhook.deliveries');
    const attempts = named(spans, 'POST');
    const projections = named(spans, 'process webhook.attempts');

    expect([otherPings, otherDeliveries]).toEqual([[], []]);
    expect(ping).toMatchObject({ service: 'telemetry-processor', kind: 'consumer', parentSpanId });
    expect(delivery).toMatchObject({ service: 'webhook-delivery', kind: 'producer', parentSpanId: ping?.spanId });
    expect(attempts).toMatchObject([
      { service: 'webhook-delivery', kind: 'client', parentSpanId: delivery?.spanId, isError: true },
      { service: 'webhook-delivery', kind: 'client', parentSpanId: delivery?.spanId, isError: false },
    ]);
    expect(projections.map((span) => span.parentSpanId).sort()).toEqual(attempts.map(({ spanId }) => spanId).sort());
    for (const span of projections) expect(span).toMatchObject({ service: 'history-projector', kind: 'consumer' });
    expect(calls).toEqual(attempts.map(({ spanId }) => ({ traceId: ping?.traceId, spanId, flags: '01' })));
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(6);
  });

  it('say what the semantic conventions ask for, and nothing of a URL but its server', () => {
    const spans = spansOf(traceId);
    const topicOf = (name: string) => named(spans, name)[0]?.attributes['messaging.destination.name'];
    expect(topicOf('process telemetry.pings')).toBe('telemetry.pings');
    expect(topicOf('create webhook.deliveries')).toBe('webhook.deliveries');
    expect(topicOf('process webhook.attempts')).toBe('webhook.attempts');
    const [first, second] = named(spans, 'POST').map(({ attributes }) => attributes);
    expect(first).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 503,
      'error.type': '503',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(receiver.url('/')).port),
      'waypost.subscription.id': subscriptions[0]?.id,
      'waypost.attempt.outcome': 'retrying',
    });
    expect(first).not.toHaveProperty('url.full');
    expect(second).toMatchObject({ 'http.response.status_code': 200, 'http.request.resend_count': 1 });
    expect(second).not.toHaveProperty('error.type');
  });

  it('are not exported for a producer that does not sample, whose trace goes on all the same', () => {
    const [, unsampledTrace] = devices.unsampled.split('-');
    expect(callsOf('unsampled').map((call) => [call.traceId, call.flags])).toEqual([
      [unsampledTrace, '00'],
      [unsampledTrace, '00'],
    ]);
    expect(spansOf(unsampledTrace)).toEqual([]);
  });
});
