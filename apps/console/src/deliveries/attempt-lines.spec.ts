import { describe, expect, it } from '@jest/globals';
import type { V2Event } from '@waypost/client';
import { attemptLines } from './attempt-lines.js';

type Attempt = V2Event['delivery']['attempts'][number];

const AT = '2026-05-04T08:00:00.000Z';

function attempt(number: number, more: Partial<Attempt> = { statusCode: 503 }): Attempt {
  return { attempt: number, dueAt: AT, startedAt: AT, durationMs: 1, ...more };
}

function probes(count: number): Attempt[] {
  return Array.from({ length: count }, () => attempt(2, { probe: true, statusCode: 503 }));
}

describe('the lines of a delivery', () => {
  it('number attempts and probes by themselves (R-29)', () => {
    const lines = attemptLines({ attempts: [attempt(1), ...probes(2), attempt(2)], probeCount: 2 });
    expect(lines.map(({ name }) => name)).toEqual(['Attempt 1', 'Probe 1', 'Probe 2', 'Attempt 2']);
  });

  it('say that the end is no attempt, so that nothing is shown as its request (R-16, R-29)', () => {
    const attempts = [attempt(1), attempt(2, { error: 'subscription_disabled' })];
    expect(attemptLines({ attempts }).map(({ type, name }) => [type, name])).toEqual([
      ['sent', 'Attempt 1'],
      ['end', 'End'],
    ]);
  });

  it('have a gap where the history has left out probes, and go on with the numbers after it (R-29)', () => {
    const lines = attemptLines({ attempts: [attempt(1), ...probes(40)], probeCount: 5_760 });
    expect(lines.filter(({ missingBefore }) => missingBefore > 0)).toEqual([lines[21]]);
    expect([20, 21, 40].map((at) => [lines[at]?.name, lines[at]?.missingBefore])).toEqual([
      ['Probe 20', 0],
      ['Probe 5,741', 5_720],
      ['Probe 5,760', 0],
    ]);
  });

  it('have no gap while all probes are there', () => {
    const lines = attemptLines({ attempts: probes(40), probeCount: 40 });
    expect(lines.filter(({ missingBefore }) => missingBefore > 0)).toEqual([]);
  });
});
