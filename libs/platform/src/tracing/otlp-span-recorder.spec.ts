import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type OtlpCollector, startOtlpCollector } from '../../../../test/support/otlp-collector.js';
import { until } from '../../../../test/support/until.js';
import { openOtlpRecorder } from './otlp-span-recorder.js';
import { type EndedSpan, messageSpan, type SpanRecorder } from './span-recorder.js';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const NOON = Date.UTC(2026, 4, 4, 12);

let collector: OtlpCollector;
let warnings: [event: string, fields: unknown][];
let recorder: SpanRecorder;

beforeEach(async () => {
  collector = await startOtlpCollector();
  warnings = [];
  recorder = await openOtlpRecorder({
    url: `${collector.url}/v1/traces`,
    serviceName: 'history-projector',
    logger: { warn: (event, fields) => void warnings.push([event, fields]) },
  });
});
afterEach(() => collector.close());

function span(spanId: string, more: Partial<EndedSpan> = {}): EndedSpan {
  return {
    ...messageSpan({ operation: 'process', topic: 'webhook.attempts', partition: 3, offset: 7, group: 'g' }),
    kind: 'consumer',
    context: { traceId, spanId, isSampled: true },
    parent: null,
    startedAt: NOON,
    endedAt: NOON + 12,
    ...more,
  };
}

describe('the exporter of spans (R-40, R-46)', () => {
  it('sends spans with the ids that they are given, and their parents', async () => {
    const parent = { traceId, spanId: '00f067aa0ba902b7', isSampled: true };
    recorder.record(span('1111111111111111'));
    recorder.record(span('2222222222222222', { parent, kind: 'client', isError: true }));
    await until(() => collector.spans.length === 2);
    expect(collector.spans).toEqual([
      {
        service: 'history-projector',
        name: 'process webhook.attempts',
        kind: 'consumer',
        isError: false,
        traceId,
        spanId: '1111111111111111',
        parentSpanId: '',
        startedAt: NOON,
        endedAt: NOON + 12,
        attributes: {
          'messaging.system': 'kafka',
          'messaging.operation.name': 'process',
          'messaging.operation.type': 'process',
          'messaging.destination.name': 'webhook.attempts',
          'messaging.destination.partition.id': '3',
          'messaging.kafka.offset': 7,
          'messaging.consumer.group.name': 'g',
        },
      },
      expect.objectContaining({
        traceId,
        spanId: '2222222222222222',
        parentSpanId: '00f067aa0ba902b7',
        kind: 'client',
        isError: true,
      }),
    ]);
    await recorder.close();
  });

  it('leaves out what is not sampled, and sends the rest when it is closed', async () => {
    recorder.record(span('1111111111111111', { context: { traceId, spanId: '1111111111111111', isSampled: false } }));
    recorder.record(span('2222222222222222', { context: null }));
    recorder.record(span('3333333333333333'));
    await recorder.close();
    expect(collector.spans.map(({ spanId }) => spanId)).toEqual(['3333333333333333']);
  });

  it('says so when the collector refuses spans, and goes on', async () => {
    collector.answer(400);
    recorder.record(span('1111111111111111'));
    await until(() => warnings.length === 1);
    expect(warnings).toEqual([['spans_not_exported', { count: 1, reason: expect.any(String) }]]);
    collector.answer(200);
    recorder.record(span('2222222222222222'));
    await until(() => collector.spans.length === 1);
    await recorder.close();
  });
});
