import { describe, expect, it } from '@jest/globals';
import { type BegunRun, seenUpTo, unseenCount } from './failed-runs.js';

function run(mutationId: number, batchId: string, status: string): BegunRun {
  return { mutationId, batchId, status };
}

describe('a resend that failed while another page was shown (R-30)', () => {
  it('is reported until its page is opened, and again if it fails again', () => {
    const first = [run(3, 'a', 'error'), run(4, 'b', 'success'), run(5, 'c', 'pending')];
    expect(unseenCount(first, 0)).toBe(1);
    const seen = seenUpTo(first);
    expect(unseenCount(first, seen)).toBe(0);
    expect(unseenCount([...first, run(6, 'a', 'error')], seen)).toBe(1);
  });

  it('is no longer reported after it is started again', () => {
    expect(unseenCount([run(3, 'a', 'error'), run(4, 'a', 'pending')], 0)).toBe(0);
    expect(unseenCount([run(3, 'a', 'error'), run(4, 'a', 'success')], 0)).toBe(0);
    expect(seenUpTo([])).toBe(0);
  });
});
