import { describe, expect, it } from '@jest/globals';
import type { OperationalEvent, WebhookAttempt } from '@waypost/domain';
import { silentLogger } from '@waypost/streams';
import type { EndedAttemptFigures } from '../../metrics/delivery-metrics.js';
import { anAttempt } from '../testing/sender-samples.js';
import { reportAttempt } from './attempt-reports.js';

function reportsOf(change: Partial<WebhookAttempt>) {
  const measured: EndedAttemptFigures[] = [];
  const published: OperationalEvent[] = [];
  reportAttempt(anAttempt(1, change), {
    metrics: { attemptEnded: (figures) => void measured.push(figures) },
    logger: silentLogger,
    log: { publish: (event) => void published.push(event) },
  });
  return { measured, published };
}

describe('what is reported of an attempt', () => {
  it.each([
    ['first', { attempt: 1 }],
    ['retry', { attempt: 2 }],
    ['probe', { attempt: 1, probe: true, probes: 1 }],
  ])('is measured as a %s with its duration and how late it was', (kind, change) => {
    const { measured } = reportsOf({ ...change, dueAt: 1_000, startedAt: 1_007, durationMs: 30 });
    expect(measured).toMatchObject([{ kind, durationMs: 30, latenessMs: 7 }]);
  });

  it.each(['subscription_disabled', 'subscription_deleted', 'expired'])(
    'is not measured where a delivery ends without one: %s (R-16, R-29)',
    (decision) => {
      expect(reportsOf({ outcome: 'failed', decision, statusCode: null, errorCode: decision }).measured).toEqual([]);
    },
  );

  it('tells the owner of a delivery that has used up its attempts, and of no other', () => {
    expect(reportsOf({ outcome: 'failed', decision: 'permanent_status', statusCode: 410 }).published).toEqual([]);
    const { published } = reportsOf({ outcome: 'failed', decision: 'attempts_exhausted', attempt: 5, statusCode: 503 });
    expect(published).toMatchObject([{ type: 'exhausted', statusCode: 503 }]);
  });

  it.each([
    ['its status code', { statusCode: 503, errorCode: null }],
    ['its error without one', { statusCode: null, errorCode: 'connection_refused' }],
  ])('tells the owner how the last attempt ended: %s', (_, result) => {
    const { published } = reportsOf({ outcome: 'failed', decision: 'attempts_exhausted', attempt: 5, ...result });
    expect(published).toMatchObject([result]);
  });

  it('tells the owner when the last attempt ended, not when the first one began', () => {
    const times = { firstAttemptAt: 2_000, startedAt: 35_000, durationMs: 4_000 };
    const { published } = reportsOf({ outcome: 'failed', decision: 'attempts_exhausted', attempt: 5, ...times });
    expect(published).toMatchObject([{ occurredAt: 39_000 }]);
  });

  it('is published under an id of the delivery, so that it counts once though it is published again', () => {
    const idOf = (of: { eventId: string; series: number; startedAt: number; deliveryOffset: number }) => {
      const ended = { outcome: 'failed', decision: 'attempts_exhausted', attempt: 5, ...of } as const;
      return reportsOf(ended).published.map(({ id }) => id);
    };
    const delivery = { eventId: 'event-1', series: 0, startedAt: 1_000, deliveryOffset: 7 };
    expect(idOf({ ...delivery, startedAt: 2_000 })).toEqual(idOf(delivery));
    expect(idOf({ ...delivery, series: 1 })).not.toEqual(idOf(delivery));
    // New topics count from 0 again.
    expect(idOf({ ...delivery, eventId: 'event-2' })).not.toEqual(idOf(delivery));
  });
});
