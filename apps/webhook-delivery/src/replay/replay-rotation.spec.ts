import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ReplayRotation } from './replay-rotation.js';

function replayOf(fleetId: string, subscriptionId: string, { series = 1, hasToWait = false } = {}) {
  return { fleetId, subscriptionId: `${fleetId}/${subscriptionId}`, series, canGoOn: () => !hasToWait };
}
type Replay = ReturnType<typeof replayOf>;

function begin(rotation: ReplayRotation<Replay>): Replay | undefined {
  const next = rotation.next();
  if (next === undefined) return undefined;
  rotation.remove(next);
  rotation.began(next);
  return next;
}

describe('the rotation of replays (R-26)', () => {
  it('gives each fleet its share of the turns, however many replays the others have', () => {
    const fleets = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(fleets, fc.integer({ min: 1, max: 4 }), (counts, places) => {
        const rotation = new ReplayRotation<Replay>();
        for (const [fleet, count] of counts.entries())
          for (let n = 0; n < count; n++) rotation.wait(replayOf(String(fleet), String(n)));
        const running: Replay[] = [];
        const lastTurn = new Map<string, number>();
        for (let round = 0; round < 40; round++) {
          while (running.length < places) {
            const next = begin(rotation);
            if (next === undefined) break;
            running.push(next);
          }
          for (const { fleetId } of running) lastTurn.set(fleetId, round);
          // In each round the slices of all of them end. After as many rounds as there are fleets to a place, each has had a turn.
          for (const [fleet] of counts.entries())
            expect(round - (lastTurn.get(String(fleet)) ?? -1)).toBeLessThanOrEqual(Math.ceil(counts.length / places));
          for (const replay of [...running]) {
            if (!rotation.isOverdue(replay)) continue;
            rotation.wait(replay);
            running.splice(running.indexOf(replay), 1);
            rotation.ended(replay);
          }
        }
      }),
    );
  });

  it('lets the only replay of a fleet keep its place beside a fleet that has more of them running', () => {
    const rotation = new ReplayRotation<Replay>();
    const single = replayOf('small', 's');
    rotation.wait(single);
    for (let n = 0; n < 10; n++) rotation.wait(replayOf('large', String(n)));
    const running = [begin(rotation), begin(rotation), begin(rotation)];
    expect(running.map((replay) => replay?.fleetId)).toEqual(['small', 'large', 'large']);
    expect(running.map((replay) => replay && rotation.isOverdue(replay))).toEqual([false, true, true]);
  });

  it('passes over a replay that could only wait, and over the younger ones of its subscription (R-30)', () => {
    const rotation = new ReplayRotation<Replay>();
    rotation.wait(replayOf('a', 's', { series: 2 }));
    rotation.wait(replayOf('a', 's', { series: 1, hasToWait: true }));
    expect([rotation.next(), rotation.isEmpty]).toEqual([undefined, false]);
    const other = replayOf('a', 't');
    rotation.wait(other);
    expect(rotation.next()).toBe(other);
  });

  it('knows nothing any more of what has ended', () => {
    const rotation = new ReplayRotation<Replay>();
    const replay = replayOf('a', 's');
    rotation.wait(replay);
    begin(rotation);
    rotation.ended(replay);
    expect([rotation.remove(replay), rotation.isEmpty, rotation.next()]).toEqual([false, true, undefined]);
  });
});
