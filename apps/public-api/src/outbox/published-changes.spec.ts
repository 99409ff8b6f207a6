import { describe, expect, it } from '@jest/globals';
import { createPublishedChanges } from './published-changes.js';

function build({ publishedAt = Number.POSITIVE_INFINITY, stoppingAt = Number.POSITIVE_INFINITY }) {
  let nowMs = 0;
  const asked: (readonly string[])[] = [];
  const { wait } = createPublishedChanges({
    isPublished: (ids) => {
      asked.push(ids);
      return Promise.resolve(nowMs >= publishedAt);
    },
    isStopping: () => nowMs >= stoppingAt,
    now: () => nowMs,
    sleep: (ms) => {
      nowMs += ms;
      return Promise.resolve();
    },
  });
  return { wait, asked, now: () => nowMs };
}

describe('waiting for changes to be published', () => {
  it('ends soon after they are', async () => {
    const { wait, asked, now } = build({ publishedAt: 100 });
    await wait(['1', '2']);
    expect(now()).toBeLessThanOrEqual(120);
    expect(asked[0]).toEqual(['1', '2']);
  });

  it('ends after three seconds even if they are not', async () => {
    const { wait, now } = build({});
    await wait(['1']);
    expect(now()).toBe(3_000);
  });

  it('ends when this process stops', async () => {
    const { wait, now } = build({ stoppingAt: 200 });
    await wait(['1']);
    expect(now()).toBe(200);
  });
});
