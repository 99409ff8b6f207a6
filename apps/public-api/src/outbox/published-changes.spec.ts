import { describe, expect, it } from '@jest/globals';
import { createPublishedChanges } from './published-changes.js';

function build({ publishedAt = Number.POSITIVE_INFINITY }) {
  let passedMs = 0;
  const asked: (readonly string[])[] = [];
  const { wait } = createPublishedChanges({
    isPublished: (ids) => {
      asked.push(ids);
      return Promise.resolve(passedMs >= publishedAt);
    },
    monotonicMs: () => passedMs,
    sleep: (ms) => {
      passedMs += ms;
      return Promise.resolve();
    },
  });
  return { wait, asked, passedMs: () => passedMs };
}

describe('waiting for changes to be published', () => {
  it('ends soon after they are', async () => {
    const { wait, asked, passedMs } = build({ publishedAt: 100 });
    expect(await wait(['1', '2'])).toBe(true);
    expect(passedMs()).toBeLessThanOrEqual(120);
    expect(asked[0]).toEqual(['1', '2']);
  });

  it('ends after three seconds even if they are not', async () => {
    const { wait, passedMs } = build({});
    expect(await wait(['1'])).toBe(false);
    expect(passedMs()).toBe(3_000);
  });

  it('is over at once when there are none', async () => {
    const { wait, asked } = build({});
    expect(await wait([])).toBe(true);
    expect(asked).toEqual([]);
  });
});
