import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  isSampledTrace,
  parseTraceparent,
  traceOfAttempt,
  traceOfDelivery,
  traceOfPing,
  traceOfProjection,
} from './trace-context.js';

const PING = { fleetId: 'acme', deviceId: 'truck-1', eventTime: Date.UTC(2026, 0, 5) };
const EVENT_ID = '0b5e2208-8aa8-5b11-8eea-90e849c2f8b5';
const FIRST = { eventId: EVENT_ID, series: 0 };
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

/** W3C Trace Context, level 1. */
const VALID = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/;

function partsOf(traceparent: string): string[] {
  expect(traceparent).toMatch(VALID);
  return traceparent.split('-');
}

describe('the trace context (R-46)', () => {
  it.each(['00', '01'])('goes from the producer to the receiver, with the flags %s', (flags) => {
    const ofPing = traceOfPing(PING, `00-${TRACE}-${SPAN}-${flags}`);
    const ofDelivery = traceOfDelivery(FIRST, ofPing);
    const attempts = [1, 2].map((number) => traceOfAttempt(ofDelivery, number));
    const steps = [ofPing, ofDelivery, ...attempts, ...attempts.map(traceOfProjection)];
    for (const [, traceId, , stepFlags] of steps.map(partsOf)) expect([traceId, stepFlags]).toEqual([TRACE, flags]);
    expect(new Set([SPAN, ...steps.map((step) => partsOf(step)[2])]).size).toBe(7);
    expect(steps.map(isSampledTrace)).toEqual(steps.map(() => flags === '01'));
    expect(parseTraceparent(ofPing)).toEqual({ traceId: TRACE, spanId: partsOf(ofPing)[2], isSampled: flags === '01' });
  });

  it('begins at the ping, not sampled, when the producer has none', () => {
    const [, traceId, , flags] = partsOf(traceOfPing(PING, null));
    expect(flags).toBe('00');
    expect(traceId).not.toBe(partsOf(traceOfPing({ ...PING, deviceId: 'truck-2' }, null))[1]);
    expect(traceOfPing(PING, null)).toBe(traceOfPing({ ...PING }, null));
  });

  it('that begins at the ping is sampled by its id, in the share that is asked for', () => {
    const pings = Array.from({ length: 4_000 }, (_, n) => ({ ...PING, deviceId: `truck-${String(n)}` }));
    const sampled = (ratio: number) => pings.filter((ping) => isSampledTrace(traceOfPing(ping, null, ratio)));
    expect(sampled(1)).toHaveLength(4_000);
    expect(sampled(0)).toHaveLength(0);
    // Three in ten of 4,000, within seven standard deviations.
    expect(Math.abs(sampled(0.3).length - 1_200)).toBeLessThan(203);
    expect(new Set([...sampled(0.5), ...sampled(0.3)]).size).toBe(sampled(0.5).length);
    expect(isSampledTrace(traceOfPing(PING, `00-${TRACE}-${SPAN}-00`, 1))).toBe(false);
  });

  it('tells apart as many attempts and probes as a delivery can have', () => {
    const delivery = traceOfDelivery(FIRST, null);
    const spans = Array.from({ length: 90_000 }, (_, index) => traceOfAttempt(delivery, index + 1));
    expect(new Set([delivery, ...spans]).size).toBe(90_001);
  });

  it('begins at the delivery when its event has none', () => {
    expect(partsOf(traceOfDelivery(FIRST, null))[1]).toBe(EVENT_ID.replaceAll('-', ''));
  });

  it('differs between the replays of an event, and is the same for all attempts of one', () => {
    const series = Array.from({ length: 50 }, (_, number) =>
      traceOfDelivery({ eventId: EVENT_ID, series: number }, null),
    );
    const traces = series.map((one) => partsOf(one)[1]);
    expect(new Set(traces).size).toBe(50);
    expect(new Set(series.map((one) => partsOf(one)[2])).size).toBe(50);
    expect(series.map((one) => partsOf(traceOfAttempt(one, 3))[1])).toEqual(traces);
    expect(traceOfDelivery({ eventId: EVENT_ID, series: 7 }, null)).toBe(series[7]);
  });

  it.each([
    ['empty', ''],
    ['of the version ff', `ff-${TRACE}-${SPAN}-01`],
    ['in capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['without a trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['without a parent', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['longer than its version allows', `00-${TRACE}-${SPAN}-01-more`],
    ['with a line break', `00-${TRACE}-${SPAN}-01\r\nx-admin: 1`],
  ])('of a producer is ignored when it is %s', (_, given) => {
    expect(traceOfPing(PING, given)).toBe(traceOfPing(PING, null));
  });

  it('of a later version is used as far as this one goes', () => {
    expect(traceOfPing(PING, `cc-${TRACE}-${SPAN}-fb-what.the.future.brings`)).toBe(
      traceOfPing(PING, `00-${TRACE}-${SPAN}-01`),
    );
  });

  it('is one that every receiver accepts, whatever the producer sends', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uuid(), fc.integer({ min: 1, max: 5 }), (given, id, attempt) => {
        const delivery = traceOfDelivery({ eventId: id, series: 0 }, traceOfPing(PING, given));
        expect(traceOfAttempt(delivery, attempt)).toMatch(VALID);
        expect(traceOfAttempt(delivery, attempt)).not.toBe(delivery);
      }),
    );
  });
});
