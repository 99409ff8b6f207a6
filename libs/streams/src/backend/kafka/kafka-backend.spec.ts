import { describe, expect, it } from '@jest/globals';
import { knownPartitionCount } from './kafka-backend.js';

describe('the number of partitions of a topic', () => {
  it('is requested again when a broker denies the topic at first, as it does right after its start', async () => {
    const answers = [null, null, 4];
    const count = await knownPartitionCount(
      () => Promise.resolve(answers.shift() ?? null),
      () => 0,
    );
    expect(count).toBe(4);
    expect(answers).toEqual([]);
  });

  it('is null when the topic has been denied for three seconds', async () => {
    let nowMs = 0;
    const count = await knownPartitionCount(
      () => {
        nowMs += 1_500;
        return Promise.resolve(null);
      },
      () => nowMs,
    );
    expect(count).toBeNull();
    expect(nowMs).toBe(3_000);
  });

  it('is reported at once when it is known', async () => {
    expect(
      await knownPartitionCount(
        () => Promise.resolve(1),
        () => 0,
      ),
    ).toBe(1);
  });
});
