import { describe, expect, it } from '@jest/globals';
import { ConcurrencyLimiter, type LaneSettings, type SlotUse, type ConcurrencyLimits } from './concurrency-limiter.js';

/** Runs stay in flight until the test ends them; the test also moves the clock. */
function build(limits: Partial<ConcurrencyLimits>, settings: Record<string, Partial<LaneSettings>> = {}) {
  let now = 1_000;
  let armed: { at: number; run: () => void }[] = [];
  const limiter = new ConcurrencyLimiter({
    limits: { perSubscription: 10, perOrigin: 100, total: 100, ...limits },
    settings: (id) => ({ origin: id, ratePerSecond: null, ...settings[id] }),
    timers: {
      after: (delayMs, run) => {
        armed.push({ at: now + delayMs, run });
        return () => undefined;
      },
    },
    now: () => now,
  });
  const running: { subscriptionId: string; end: (how: SlotUse) => void }[] = [];
  const started: string[] = [];
  const enqueue = (subscriptionId: string, label = subscriptionId, isVoid = false): void => {
    const lane = limiter.lane(subscriptionId);
    lane.enqueue({
      isVoid,
      run: () => {
        started.push(label);
        running.push({
          subscriptionId,
          end: (how) => {
            lane.release(how);
          },
        });
      },
    });
  };
  const endOne = (subscriptionId: string, how: SlotUse = 'answered'): void => {
    const index = running.findIndex((run) => run.subscriptionId === subscriptionId);
    running.splice(index, 1)[0]?.end(how);
  };
  const inFlightOf = (subscriptionId: string): number =>
    running.filter((run) => run.subscriptionId === subscriptionId).length;
  const passMs = (ms: number): void => {
    const end = now + ms;
    for (let next = firstOf(armed); next && next.at <= end; next = firstOf(armed)) {
      armed = armed.filter((timer) => timer !== next);
      now = Math.max(now, next.at);
      next.run();
    }
    now = end;
  };
  return { limiter, started, enqueue, endOne, inFlightOf, passMs };
}

function firstOf<T extends { at: number }>(timers: T[]): T | undefined {
  return [...timers].sort((a, b) => a.at - b.at)[0];
}

describe('ConcurrencyLimiter (R-26)', () => {
  it('limits a subscription to its own share while others start at once', () => {
    const { started, enqueue } = build({ perSubscription: 2 });
    for (let i = 0; i < 50; i++) enqueue('dead');
    enqueue('healthy');
    expect(started).toEqual(['dead', 'dead', 'healthy']);
  });

  it('starts the work of one subscription in order (R-28)', () => {
    const { started, enqueue, endOne } = build({ perSubscription: 1 });
    for (const label of ['first', 'second', 'third']) enqueue('s', label);
    endOne('s');
    endOne('s');
    expect(started).toEqual(['first', 'second', 'third']);
  });

  it('serves waiting subscriptions round robin when the process is at its limit', () => {
    const { started, enqueue, endOne } = build({ total: 1 });
    for (let i = 1; i <= 20; i++) enqueue('flood', `flood ${String(i)}`);
    enqueue('quiet', 'quiet 1');
    endOne('flood');
    endOne('flood');
    expect(started.slice(0, 3)).toContain('quiet 1');
  });

  it('never exceeds the limit of the process, and starts everything in the end', () => {
    const { limiter, started, enqueue, endOne } = build({ perSubscription: 3, total: 4 });
    for (let i = 0; i < 12; i++) enqueue(`s${String(i % 3)}`);
    let most = limiter.inFlight;
    for (let i = 0; i < 12; i++) {
      most = Math.max(most, limiter.inFlight);
      endOne(started[i] ?? '');
    }
    expect(most).toBe(4);
    expect(started).toHaveLength(12);
    expect(limiter.inFlight).toBe(0);
  });

  it('limits all subscriptions of one origin, round robin, while others start at once', () => {
    const shared = { origin: 'https://shared.example.org' };
    const { started, enqueue, endOne } = build({ perOrigin: 2 }, { a: shared, b: shared, c: shared });
    for (const id of ['a', 'b', 'c', 'a', 'b', 'c']) enqueue(id);
    enqueue('other');
    expect(started).toEqual(['a', 'b', 'other']);
    endOne('a');
    endOne('b');
    expect(started.slice(3)).toEqual(['c', 'a']);
    for (const id of ['c', 'a', 'b', 'c']) endOne(id);
    expect([...started].sort()).toEqual(['a', 'a', 'b', 'b', 'c', 'c', 'other']);
  });

  it('halves the limit of an endpoint at each missed deadline, down to two', () => {
    const { enqueue, endOne, inFlightOf } = build({ perSubscription: 16 });
    for (let i = 0; i < 100; i++) enqueue('dead');
    expect(inFlightOf('dead')).toBe(16);
    for (let i = 0; i < 16; i++) endOne('dead', 'too_slow');
    expect(inFlightOf('dead')).toBe(2);
  });

  it('raises the limit by one with each response', () => {
    const { enqueue, endOne, inFlightOf } = build({ perSubscription: 16 });
    for (let i = 0; i < 200; i++) enqueue('flapping');
    for (let i = 0; i < 16; i++) endOne('flapping', 'too_slow');
    for (let answered = 1; answered <= 20; answered++) {
      endOne('flapping');
      expect(inFlightOf('flapping')).toBe(Math.min(16, 2 + answered));
    }
  });

  it('gives all slow endpoints together at most a quarter of the slots', () => {
    const { limiter, enqueue, endOne, inFlightOf } = build({ perSubscription: 8, total: 32 });
    const dead = Array.from({ length: 20 }, (_, i) => `dead-${String(i)}`);
    // Each has been slow before, alone, so that its cap is down to two.
    for (const id of dead) {
      for (let i = 0; i < 4; i++) enqueue(id);
      for (let i = 0; i < 4; i++) endOne(id, 'too_slow');
    }
    for (const id of dead) for (let i = 0; i < 4; i++) enqueue(id);
    expect(limiter.inFlight).toBe(8);
    for (let i = 0; i < 8; i++) enqueue('healthy');
    expect(inFlightOf('healthy')).toBe(8);
  });

  it('starts at most the configured number per second, evenly, and loses nothing', () => {
    const { started, enqueue, endOne, passMs } = build({}, { paced: { ratePerSecond: 4 } });
    for (let i = 0; i < 8; i++) enqueue('paced');
    enqueue('other');
    expect(started).toEqual(['paced', 'other']);
    for (let quarter = 1; quarter <= 7; quarter++) {
      endOne('paced');
      passMs(249);
      expect(started.filter((id) => id === 'paced')).toHaveLength(quarter);
      passMs(1);
      expect(started.filter((id) => id === 'paced')).toHaveLength(quarter + 1);
    }
  });

  it('keeps a rate that does not divide a second', () => {
    const { started, enqueue, endOne, passMs } = build({}, { paced: { ratePerSecond: 3 } });
    for (let i = 0; i < 40; i++) enqueue('paced');
    for (let ms = 0; ms < 10_000; ms++) {
      endOne('paced');
      passMs(1);
    }
    expect(started.length).toBeGreaterThanOrEqual(29);
    expect(started.length).toBeLessThanOrEqual(31);
  });

  it('passes a slot of an origin on when the lane that waited for it has nothing left to run', () => {
    const shared = { origin: 'https://shared.example.org' };
    const { limiter, started, enqueue, endOne } = build({ perOrigin: 1 }, { a: shared, b: shared, c: shared });
    for (const id of ['a', 'b', 'c']) enqueue(id);
    limiter.lane('b').drain();
    endOne('a');
    expect(started).toEqual(['a', 'c']);
  });

  it('passes a slot of an origin on when the lane that waited for it has to wait for its own rate', () => {
    const shared = { origin: 'https://shared.example.org' };
    const { started, enqueue, endOne, passMs } = build(
      { perOrigin: 1 },
      { a: shared, b: { ...shared, ratePerSecond: 1 } },
    );
    enqueue('b', 'b 1');
    for (const label of ['b 2', 'b 3']) enqueue('b', label);
    for (const label of ['a 1', 'a 2']) enqueue('a', label);
    endOne('b');
    endOne('a');
    expect(started).toEqual(['b 1', 'a 1', 'a 2']);
    endOne('a');
    passMs(1_000);
    expect(started.at(-1)).toBe('b 2');
  });

  it('passes a slot on when the subscription that waited for it has moved to another origin', () => {
    const settings: Record<string, Partial<LaneSettings>> = {};
    for (const id of ['first', 'moved', 'waiting']) settings[id] = { origin: 'https://old.example.org' };
    const { started, enqueue, endOne } = build({ perOrigin: 1 }, settings);
    for (const id of ['first', 'moved', 'waiting']) enqueue(id);
    settings['moved'] = { origin: 'https://new.example.org' };
    endOne('first');
    expect(started).toEqual(['first', 'moved', 'waiting']);
  });

  it('skips void work without using up the rate of later work', () => {
    const { started, enqueue } = build({}, { paced: { ratePerSecond: 1 } });
    enqueue('paced', 'first');
    for (let i = 0; i < 500; i++) enqueue('paced', 'void', true);
    enqueue('other');
    expect(started).toEqual(['first', 'other']);
  });

  it('starts the work after 500 void entries when it is due', () => {
    const { started, enqueue, endOne, passMs } = build({}, { paced: { ratePerSecond: 1 } });
    enqueue('paced', 'first');
    for (let i = 0; i < 500; i++) enqueue('paced', 'void', true);
    enqueue('paced', 'second');
    endOne('paced');
    passMs(1_000);
    expect(started).toEqual(['first', 'second']);
  });

  it('returns the waiting work, so that it can be held', () => {
    const { limiter, started, enqueue } = build({ perSubscription: 1 });
    for (const label of ['first', 'second', 'third']) enqueue('s', label);
    const drained = limiter.lane('s').drain();
    for (const turn of drained) turn.run();
    expect(started).toEqual(['first', 'second', 'third']);
    expect(limiter.lane('s').drain()).toEqual([]);
  });
});
