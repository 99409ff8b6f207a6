import { describe, expect, it } from '@jest/globals';
import type { ReplayProgress } from '@waypost/domain';
import { KnownProgress } from './known-progress.js';

function progressOf(replayId: string, startedAt: number, subscriptionId = 'own'): ReplayProgress {
  const none = { attemptsEnd: 0, nextDeliveryOffset: 0, matched: 0, sent: 0 };
  return { ...none, replayId, subscriptionId, state: 'completed', startedAt, updatedAt: startedAt };
}

describe('what is known of the replays of a partition (R-30)', () => {
  it('says when the first other replay of a subscription began', () => {
    const known = new KnownProgress();
    expect(known.firstStartOfOthers(progressOf('a', 1))).toBeNull();
    for (const one of [progressOf('a', 1), progressOf('b', 3), progressOf('c', 2), progressOf('d', 0, 'foreign')])
      known.set(one);
    expect(known.firstStartOfOthers(progressOf('a', 1))).toBe(2);
    expect(known.firstStartOfOthers(progressOf('new', 9))).toBe(1);
    expect(known.firstStartOfOthers(progressOf('d', 0, 'foreign'))).toBeNull();
  });

  it('looks at no replay of another subscription for that, and at many of its own', () => {
    const known = new KnownProgress();
    let looks = 0;
    for (let n = 0; n < 1_000; n++) {
      const { subscriptionId, startedAt, ...rest } = progressOf(`foreign ${String(n)}`, n, 'foreign');
      known.set({
        ...rest,
        get subscriptionId() {
          looks++;
          return subscriptionId;
        },
        get startedAt() {
          looks++;
          return startedAt;
        },
      });
    }
    for (let n = 0; n < 200_000; n++) known.set(progressOf(String(n), n + 5));
    looks = 0;
    expect(known.firstStartOfOthers(progressOf('0', 5))).toBe(6);
    expect(looks).toBe(0);
  });

  it('forgets a replay that is gone, and counts the newest progress of one that is not', () => {
    const known = new KnownProgress();
    known.set(progressOf('a', 1));
    known.set(progressOf('b', 2));
    known.delete('a');
    known.delete('never there');
    known.set(progressOf('b', 3));
    expect([known.get('a'), known.get('b'), known.replayIds()]).toEqual([null, progressOf('b', 3), ['b']]);
    expect(known.firstStartOfOthers(progressOf('c', 9))).toBe(3);
  });
});
