import { describe, expect, it } from '@jest/globals';
import { sampleDelivery, type SampledFleet } from './sample-deliveries.js';

const FLEET: SampledFleet = {
  fleetId: 'acme',
  subscriptions: [
    { id: 'one', eventType: 'position', url: 'https://receiver.example/one' },
    { id: 'two', eventType: 'ignition_on', url: 'https://receiver.example/two' },
  ],
  devices: 3,
};
const NOON = Date.UTC(2026, 0, 5, 12);

describe('a sample of deliveries', () => {
  const deliveries = Array.from({ length: 40 }, (_, number) => sampleDelivery(FLEET, number, NOON + number));

  it('is the same for the same arguments', () => expect(sampleDelivery(FLEET, 7, NOON + 7)).toEqual(deliveries[7]));

  it('has a different id for each, which its body carries', () => {
    const ids = deliveries.map(([first]) => first?.eventId);
    expect(new Set(ids).size).toBe(40);
    for (const [first] of deliveries) expect(JSON.parse(first?.body ?? '')).toHaveProperty('eventId', first?.eventId);
  });

  it('holds every end, most of them delivered at once', () => {
    const ends = deliveries.map((attempts) => `${String(attempts.length)} ${attempts.at(-1)?.outcome ?? ''}`);
    const count = (end: string): number => ends.filter((each) => each === end).length;
    expect([count('1 delivered'), count('2 delivered'), count('5 failed'), count('1 retrying')]).toEqual([34, 2, 2, 2]);
  });

  it('counts attempts from 1, each after the one before, with the body in the first alone', () => {
    for (const attempts of deliveries)
      for (const [index, attempt] of attempts.entries()) {
        expect(attempt.attempt).toBe(index + 1);
        expect(attempt.body === null).toBe(index > 0);
        expect(attempt.startedAt).toBe((attempts[0]?.startedAt ?? 0) + index * 2_000);
        expect(attempt.nextDueAt === null).toBe(attempt.outcome !== 'retrying');
      }
  });
});
