import { beforeAll, describe, expect, it } from '@jest/globals';
import type { WebhookAttempt } from '@waypost/domain';
import { createAttemptSource } from './attempt-source.js';
import { createFleets } from './fleets.js';

const FROM = Date.UTC(2026, 5, 1);
const DAY_MS = 86_400_000;
const options = { fleets: createFleets(), seed: 1, fromMs: FROM, toMs: FROM + 15 * DAY_MS, batchSize: 500 };

async function wholeLog(deliveries: number, seed = 1): Promise<WebhookAttempt[]> {
  const source = createAttemptSource({ ...options, deliveries, seed });
  const log: WebhookAttempt[] = [];
  for (let batch = await source.next(); batch.length > 0; batch = await source.next()) log.push(...batch);
  return log;
}

describe('The attempts of the history benchmark', () => {
  let log: WebhookAttempt[];
  let first: WebhookAttempt[];

  beforeAll(async () => {
    log = await wholeLog(40_000);
    first = log.filter(({ attempt }) => attempt === 1);
  });

  it('are the same for the same seed, and others for another', async () => {
    const [once, again, other] = await Promise.all([wholeLog(500), wholeLog(500), wholeLog(500, 2)]);
    expect(again).toEqual(once);
    expect(other[0]?.eventId).not.toBe(once[0]?.eventId);
  });

  it('begin as many deliveries as are asked for, evenly over the window', () => {
    expect(new Set(first.map(({ eventId }) => eventId)).size).toBe(40_000);
    const days = Array.from({ length: 15 }, (_, day) => {
      const startAt = FROM + day * DAY_MS;
      return first.filter(({ firstAttemptAt }) => firstAttemptAt >= startAt && firstAttemptAt < startAt + DAY_MS)
        .length;
    });
    for (const count of days) expect(Math.abs(count - 40_000 / 15)).toBeLessThan(3);
  });

  it('come in order for each delivery, and a retry some batches after the attempt before it', () => {
    const places = new Map<string, number>();
    const wrong = log.filter(({ eventId, attempt, body }, place) => {
      places.set(`${eventId}/${String(attempt)}`, place);
      if (attempt === 1) return body === null;
      const distance = place - (places.get(`${eventId}/${String(attempt - 1)}`) ?? place);
      return body !== null || distance <= 5_000;
    });
    expect(wrong).toEqual([]);
  });

  it('are several for one delivery in ten or so, with bodies of some 450 bytes', () => {
    const retried = first.filter(({ outcome }) => outcome === 'retrying').length / first.length;
    expect(retried).toBeGreaterThan(0.08);
    expect(retried).toBeLessThan(0.13);
    const bytes = first.reduce((sum, { body }) => sum + Buffer.byteLength(body ?? ''), 0) / first.length;
    expect(bytes).toBeGreaterThan(420);
    expect(bytes).toBeLessThan(480);
    expect(JSON.parse(first[0]?.body ?? '')).toMatchObject({ eventId: first[0]?.eventId });
  });

  it('are skewed: the largest of 500 fleets has 15 % of the deliveries, half of them have hardly any', () => {
    const of = (from: number, to: number): number => {
      const ids = new Set(options.fleets.slice(from, to).map(({ fleetId }) => fleetId));
      return first.filter(({ fleetId }) => ids.has(fleetId)).length / first.length;
    };
    expect(of(0, 1)).toBeCloseTo(0.147, 1);
    expect(of(250, 500)).toBeLessThan(0.12);
  });
});
