import { describe, expect, it } from '@jest/globals';
import { flushed } from '../../../../test/support/until.js';
import { ManualClock } from '../sender/testing/manual-clock.js';
import { SharedPermits } from './shared-permits.js';

const CHECK_MS = 50;
const SILENT_MS = 5_000;

function ownerOf(subscriptionId: string) {
  return { id: subscriptionId, fleetId: subscriptionId.split('/')[0] ?? '' };
}

/** Subscriptions are named `fleet/subscription`; work ends when the test says. */
function build({ total = 60, perOrigin = Infinity } = {}) {
  const clock = new ManualClock();
  const permits = new SharedPermits({
    limits: { total, perOrigin },
    timers: clock,
    monotonicMs: clock.monotonicMs,
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const want = (subscriptionId: string, origin = subscriptionId): void => {
    const work = (): Promise<void> => {
      begun.push(subscriptionId);
      return new Promise((end) => ends.set(subscriptionId, end));
    };
    void permits.during(ownerOf(subscriptionId), origin, work);
  };
  const wantAll = (fleet: string, count: number, origin?: string): void => {
    for (let n = 0; n < count; n++) want(`${fleet}/${String(n)}`, origin);
  };
  const end = async (subscriptionId: string): Promise<void> => {
    ends.get(subscriptionId)?.();
    await flushed();
  };
  const begunOf = (fleet: string): number => begun.filter((id) => id.startsWith(`${fleet}/`)).length;
  return { permits, clock, begun, want, wantAll, end, begunOf };
}

describe('shared permits (R-26)', () => {
  it('leave another fleet its share at once beside thousands of subscriptions whose work never ends', () => {
    const { wantAll, begunOf } = build();
    wantAll('bad', 5_000);
    wantAll('healthy', 10);
    expect(begunOf('bad')).toBe(20);
    expect(begunOf('healthy')).toBe(10);
  });

  it.each([40, 200])('leave one at once beside %s such fleets, once each of them has its share', async (fleets) => {
    const { permits, clock, want, begunOf } = build({ total: 512 });
    const isSilent = (): Promise<void> => new Promise((end) => clock.after(SILENT_MS, end));
    const ask = (subscriptionId: string): void => {
      void permits.during(ownerOf(subscriptionId), subscriptionId, isSilent).then(() => ask(subscriptionId));
    };
    for (let n = 0; n < fleets * 10; n++) ask(`bad ${String(n % fleets)}/${String(n)}`);
    for (let passedMs = 0; passedMs < 10 * SILENT_MS; passedMs += CHECK_MS) {
      clock.passMs(CHECK_MS);
      await flushed();
    }
    want('healthy/1');
    expect(begunOf('healthy')).toBe(1);
  });

  it('count what a fleet still has while others of it end', async () => {
    const { permits, wantAll, end } = build();
    wantAll('bad', 20);
    for (let n = 0; n < 19; n++) await end(`bad/${String(n)}`);
    expect(permits.inUse).toBe(1);
    wantAll('bad', 5_000);
    expect(permits.inUse).toBe(20);
  });

  it('leave another fleet its share at the same origin', () => {
    const { wantAll, begunOf } = build({ total: 1_000, perOrigin: 60 });
    wantAll('bad', 5_000, 'https://login.example');
    wantAll('healthy', 10, 'https://login.example');
    expect(begunOf('bad')).toBe(30);
    expect(begunOf('healthy')).toBe(10);
  });

  it('go to those that wait by fleet in turn, then by subscription, oldest first', async () => {
    const { wantAll, begun, end } = build({ total: 3 });
    wantAll('a', 4);
    wantAll('b', 3);
    expect(begun).toEqual(['a/0', 'b/0']);
    await end('a/0');
    await end('b/0');
    await end('a/1');
    await end('b/1');
    expect(begun).toEqual(['a/0', 'b/0', 'a/1', 'b/1', 'a/2', 'b/2']);
  });

  it('are found by those that wait when another fleet has freed some of them', async () => {
    const { wantAll, clock, begunOf, end } = build({ total: 30 });
    wantAll('a', 10);
    wantAll('b', 20);
    expect(begunOf('b')).toBe(7);
    for (let n = 0; n < 10; n++) await end(`a/${String(n)}`);
    clock.passMs(CHECK_MS);
    await flushed();
    expect(begunOf('b')).toBe(10);
  });

  it('go to a subscription up to its share, also when some of its work has ended', async () => {
    const { want, begunOf, end } = build();
    for (let n = 0; n < 30; n++) want('a/1');
    expect(begunOf('a')).toBe(12);
    await end('a/1');
    expect(begunOf('a')).toBe(13);
    want('a/1');
    expect(begunOf('a')).toBe(13);
  });

  it('are found at the next check by a fleet that waits behind others that have their share', async () => {
    const { permits, wantAll, want, clock, end, begunOf } = build({ total: 512 });
    for (let n = 0; permits.inUse < 512; n++) wantAll(`busy ${String(n)}`, 300);
    want('healthy/1');
    clock.passMs(CHECK_MS);
    await end('busy 0/0');
    expect(begunOf('healthy')).toBe(0);
    clock.passMs(CHECK_MS);
    await flushed();
    expect(begunOf('healthy')).toBe(1);
  });

  it('are free again when the work fails', async () => {
    const { permits } = build();
    const broken = new Error('broken');
    await expect(permits.during(ownerOf('a/1'), 'origin', () => Promise.reject(broken))).rejects.toBe(broken);
    expect(permits.inUse).toBe(0);
  });
});
