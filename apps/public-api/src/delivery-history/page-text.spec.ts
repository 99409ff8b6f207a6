import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AttemptEntry, type DeliveryRecord, formatTime, MAX_TIME_MS } from '@waypost/domain';
import { v2PageText } from '../events-v2/events-v2.page.js';
import { v1PageText } from '../history-v1/history-v1.page.js';
import { attemptEntry, deliveryRecord } from '../testing/delivery-records.js';
import { createTimeText } from './page-text.js';

const times = fc.integer({ min: 0, max: MAX_TIME_MS });
const texts = fc.string({ unit: 'binary', maxLength: 20 });
function maybe<T>(values: fc.Arbitrary<T>) {
  return fc.option(values, { nil: null });
}
const codes = maybe(fc.integer({ min: 100, max: 999 }));

const attempts = fc.record({
  dueAt: times,
  startedAt: times,
  durationMs: fc.nat(),
  statusCode: codes,
  errorCode: maybe(texts),
  probe: fc.boolean(),
});
const records: fc.Arbitrary<DeliveryRecord> = fc
  .record({
    eventId: fc.uuid(),
    subscriptionId: fc.uuid(),
    eventType: texts,
    deviceId: texts,
    url: fc.webUrl(),
    eventTime: times,
    createdAt: times,
    firstAttemptAt: times,
    lastAttemptAt: times,
    deliveredAt: maybe(times),
    nextAttemptAt: maybe(times),
    statusCode: codes,
    status: fc.constantFrom('delivered', 'failed', 'pending'),
    replayId: maybe(texts),
    body: fc.object().map((value) => JSON.stringify(value)),
    attempts: fc.array(attempts, { minLength: 1, maxLength: 5 }),
  })
  .map(({ attempts: given, ...record }) =>
    deliveryRecord({ ...record, attempts: given.map((each, index) => entryOf(given.slice(0, index), each)) }),
  );
const pages = fc.record({
  records: fc.array(records, { maxLength: 4 }),
  nextPageState: maybe(texts),
  completeUntil: maybe(times),
});

function countOf(given: readonly { readonly probe: boolean }[], isProbe: boolean): number {
  return given.filter(({ probe }) => probe === isProbe).length;
}
/** An entry after others. */
function entryOf(before: readonly { readonly probe: boolean }[], each: Partial<AttemptEntry> & { probe: boolean }) {
  const probes = countOf(before, true) + (each.probe ? 1 : 0);
  return attemptEntry({ ...each, attempt: countOf(before, false) + 1, probes });
}
function present(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
function timeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : formatTime(timeMs);
}

describe('the text of a time', () => {
  it('is that of every time, in quotes, whatever came before', () => {
    fc.assert(
      fc.property(fc.array(times, { minLength: 1, maxLength: 5 }), (given) => {
        const timeText = createTimeText();
        expect(given.map(timeText)).toEqual(given.map((timeMs) => `"${formatTime(timeMs)}"`));
      }),
    );
  });
});

describe('the text of a page', () => {
  it('of version 1 reads as R-31 has it, with the bytes of the body in a string', () => {
    fc.assert(
      fc.property(pages, (page) => {
        const { records: given, nextPageState } = page;
        expect(JSON.parse(v1PageText(page))).toEqual({
          events: given.map((record) =>
            present({
              event_id: record.eventId,
              event_type: record.eventType,
              device_id: record.deviceId,
              subscription_id: record.subscriptionId,
              url: record.url,
              status_code: record.statusCode,
              event_time: formatTime(record.eventTime),
              body: record.body,
              ...{
                retry_count: Math.max(0, countOf(record.attempts, false) - 1),
                created_at: formatTime(record.createdAt),
              },
              last_attempt_at: formatTime(record.lastAttemptAt),
              delivered_at: timeOrNull(record.deliveredAt),
              attempts: record.attempts.map((each) =>
                present({
                  attempt: each.attempt,
                  started_at: formatTime(each.startedAt),
                  duration_ms: each.durationMs,
                  status_code: each.statusCode,
                  error: each.errorCode,
                }),
              ),
            }),
          ),
          next_page_state: nextPageState,
        });
      }),
    );
  });

  it('of version 2 reads as R-33 has it, with the body as the payload and, if asked for, in a string', () => {
    fc.assert(
      fc.property(pages, fc.boolean(), (page, includeBody) => {
        const { records: given, nextPageState } = page;
        expect(JSON.parse(v2PageText(page, { includeBody }))).toEqual({
          data: given.map((record) =>
            present({
              eventId: record.eventId,
              eventType: record.eventType,
              deviceId: record.deviceId,
              subscriptionId: record.subscriptionId,
              format: record.format,
              eventTime: formatTime(record.eventTime),
              payload: JSON.parse(record.body) as unknown,
              body: includeBody ? record.body : null,
              delivery: present({
                status: record.status,
                statusCode: record.statusCode,
                series: record.series,
                replayId: record.replayId,
                attemptCount: countOf(record.attempts, false),
                probeCount: countOf(record.attempts, true) || null,
                firstAttemptAt: formatTime(record.firstAttemptAt),
                lastAttemptAt: formatTime(record.lastAttemptAt),
                nextAttemptAt: timeOrNull(record.nextAttemptAt),
                attempts: record.attempts.map((each) =>
                  present({
                    attempt: each.attempt,
                    probe: each.probe || null,
                    durationMs: each.durationMs,
                    dueAt: formatTime(each.dueAt),
                    startedAt: formatTime(each.startedAt),
                    statusCode: each.statusCode,
                    error: each.errorCode,
                  }),
                ),
              }),
            }),
          ),
          nextPageState,
          completeUntil: timeOrNull(page.completeUntil),
        });
      }),
    );
  });

  it('keeps every digit of the numbers that were pushed', () => {
    const body = '{"exact":12345678901234567890,"decimals":1.0}';
    const page = { records: [deliveryRecord({ body })], nextPageState: null, completeUntil: null };
    expect(v2PageText(page, { includeBody: false })).toContain(`"payload":${body},`);
  });
});
