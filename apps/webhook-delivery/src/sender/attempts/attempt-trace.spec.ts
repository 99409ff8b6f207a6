import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { WebhookAttempt } from '@waypost/domain';
import type { EndedSpan, Traces } from '@waypost/platform';
import { until } from '../../../../../test/support/until.js';
import type { PendingDelivery } from '../backlogs/subscription-backlog.js';
import { ok, SenderHarness, unavailable } from '../testing/sender-harness.js';
import { aDelivery, anAttempt } from '../testing/sender-samples.js';
import { createAttemptTracer } from './attempt-trace.js';

const EVENT_ID = '0b5e2208-8aa8-5b11-8eea-90e849c2f8b5';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

let harness: SenderHarness;
let spans: EndedSpan[];

beforeEach(async () => {
  harness = await SenderHarness.create({ speed: 100 });
  harness.subscribe('subscription-1');
  spans = [];
});
afterEach(() => harness.stop());

function tracesWith(sampleRatio: number): Traces {
  return { recorder: { record: (span) => void spans.push(span), close: () => Promise.resolve() }, sampleRatio };
}

/** One delivery, refused once and then accepted; what the receiver got as its trace context. */
async function attempted(ofDelivery: string | null, traces: Traces, series = 0): Promise<string[]> {
  const headers = ofDelivery === null ? [] : [{ key: 'traceparent', value: Buffer.from(ofDelivery) }];
  const delivery = { ...aDelivery(1), eventId: EVENT_ID, series };
  harness.append(harness.codecs.webhookDeliveries.encode(delivery), headers);
  const made = await harness.start(({ attempt }) => (attempt === 1 ? unavailable : ok), { traces });
  await until(async () => (await harness.attempts()).length === 2);
  return made.map(({ traceparent }) => traceparent);
}

describe('the attempts of a sampled trace (R-46)', () => {
  it('are spans under the ids that the receiver and the log get', async () => {
    const sent = await attempted(`00-${TRACE}-00f067aa0ba902b7-01`, tracesWith(0));

    expect(await harness.attemptTraces()).toEqual(sent);
    expect(new Set(sent).size).toBe(2);
    expect(spans.map(({ context }) => `00-${TRACE}-${String(context?.spanId)}-01`)).toEqual(sent);
    // The span that the fan-out has recorded for the delivery.
    const parent = { traceId: TRACE, spanId: '8eea90e849c2f8b5', isSampled: true };
    expect(spans).toMatchObject([
      { name: 'POST', kind: 'client', parent, isError: true, attributes: { 'error.type': '503' } },
      { name: 'POST', kind: 'client', parent, isError: false, attributes: { 'http.request.resend_count': 1 } },
    ]);
    const logged = await harness.attempts();
    expect(spans.map(({ startedAt, endedAt }) => [startedAt, endedAt - startedAt])).toEqual(
      logged.map(({ startedAt, durationMs }) => [startedAt, durationMs]),
    );
  });

  it('say of the URL where it leads and nothing else: path and query are often its secret', async () => {
    await attempted(`00-${TRACE}-00f067aa0ba902b7-01`, tracesWith(0));

    const [refused, accepted] = spans.map(({ attributes }) => attributes);
    const common = {
      'http.request.method': 'POST',
      'server.address': 'example.org',
      'server.port': 443,
      'url.scheme': 'https',
      'waypost.attempt.probe': false,
      'waypost.event.id': EVENT_ID,
      'waypost.event.type': 'position',
      'waypost.fleet.id': 'fleet-1',
      'waypost.subscription.id': 'subscription-1',
    };
    expect(refused).toEqual({
      ...common,
      'error.type': '503',
      'http.response.status_code': 503,
      'waypost.attempt.number': 1,
      'waypost.attempt.outcome': 'retrying',
    });
    expect(accepted).toEqual({
      ...common,
      'http.request.resend_count': 1,
      'http.response.status_code': 200,
      'waypost.attempt.number': 2,
      'waypost.attempt.outcome': 'delivered',
    });
  });

  it('begin the trace where the record has none', async () => {
    const sent = await attempted(null, tracesWith(1));

    expect(sent.map((traceparent) => traceparent.slice(3, 35))).toEqual(Array(2).fill(EVENT_ID.replaceAll('-', '')));
    expect(spans).toMatchObject([{ parent: null }, { parent: null }]);
  });

  it('begin a trace of its own for a replay', async () => {
    const sent = await attempted(null, tracesWith(1), 2);

    const traces = new Set(sent.map((traceparent) => traceparent.slice(3, 35)));
    expect(traces.size).toBe(1);
    expect(traces).not.toContain(EVENT_ID.replaceAll('-', ''));
    expect(spans).toMatchObject([{ parent: null }, { parent: null }]);
  });
});

describe('the span of an attempt (R-46)', () => {
  function spanOf(change: Partial<WebhookAttempt>): EndedSpan | undefined {
    const pending = { delivery: aDelivery(1), traceparent: null } as PendingDelivery;
    createAttemptTracer(tracesWith(1)).ended(pending, `00-${TRACE}-00f067aa0ba902b7-01`, anAttempt(1, change));
    return spans[0];
  }

  it('is an error when the delivery was refused for good too, with its status as the type', () => {
    const refused = spanOf({ outcome: 'failed', decision: 'permanent_status', statusCode: 422 });
    expect(refused).toMatchObject({ isError: true, attributes: { 'error.type': '422' } });
  });

  it.each([
    ['http://example.org/hook', 80],
    ['https://example.org/hook', 443],
    ['https://example.org:8443/hook', 8_443],
  ])('says the port even if the URL leaves it out: %s', (url, port) => {
    expect(spanOf({ url })).toMatchObject({ attributes: { 'server.port': port } });
  });
});

describe('the attempts of a trace that is not sampled (R-46)', () => {
  it.each([
    ['by its producer', `00-${TRACE}-00f067aa0ba902b7-00`, 1],
    ['by this service', null, 0],
  ])('go on with the trace, but leave neither spans nor headers: %s', async (_, ofDelivery, sampleRatio) => {
    const sent = await attempted(ofDelivery, tracesWith(sampleRatio));

    expect(new Set(sent).size).toBe(2);
    for (const traceparent of sent) expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(spans).toEqual([]);
    expect(await harness.attemptTraces()).toEqual([undefined, undefined]);
  });
});

describe('the requests of a delivery that is probed (R-29, R-46)', () => {
  it('each have a span of their own, though probes are not counted among its attempts', () => {
    const tracer = createAttemptTracer(tracesWith(1));
    const contexts = [0, 1, 2].map((probes) => {
      const progress = { nextAttempt: 2, probes, dueAt: 0, firstAttemptAt: 0, unauthorizedBefore: false };
      const delivery = { ...aDelivery(1), eventId: EVENT_ID };
      return tracer.contextOf({
        delivery,
        traceparent: null,
        progress: { type: 'pending', ...progress },
      } as PendingDelivery);
    });
    expect(new Set(contexts).size).toBe(3);
  });
});
