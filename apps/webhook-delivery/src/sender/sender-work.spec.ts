import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StreamsError } from '@waypost/streams';
import { until } from '../../../../test/support/until.js';
import { DELIVERIES, ok, SenderHarness } from './testing/sender-harness.js';
import { wrapFeeds } from './testing/wrap-feeds.js';

let harness: SenderHarness;

beforeEach(async () => {
  harness = await SenderHarness.create();
  harness.subscribe('subscription-1');
});

afterEach(() => harness.stop());

/** Where the log is read again, the records from one offset to before another are in a batch that cannot be decoded. */
function damage(from: number, to: number): StreamsError {
  const error = new StreamsError('CORRUPT_BATCH', 'The checksum is wrong.', { offset: from });
  wrapFeeds(harness.backend, (source, position, open) => {
    const feed = open(source, position);
    if (source.topic !== DELIVERIES.topic || position < from || position >= to) return feed;
    return { next: () => Promise.reject(error), close: () => feed.close() };
  });
  return error;
}

describe('a subscription with more deliveries than fit in memory (R-26)', () => {
  it('counts as parked until all of them have been read from the log again', async () => {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    for (const n of [1, 2, 3, 4, 5, 6]) harness.publish(n);
    await harness.start(async () => (await answered, ok), { limits: { perSubscription: 2 } });
    await until(() => harness.parked === 1);
    answer();
    await until(async () => (await harness.attempts()).length === 6);
    await until(() => harness.parked === 0);
  });

  it('gets those after a batch that cannot be decoded as soon as a command leaves it out (R-45)', async () => {
    for (const n of [1, 2, 3, 4]) harness.publish(n);
    const damaged = damage(1, 3);
    const made = await harness.start(() => ok, {
      limits: { perSubscription: 1 },
      leaveOut: (error) => Promise.resolve(error === damaged ? 3 : null),
    });
    await until(() => made.length === 2);
    expect(made.map(({ delivery }) => delivery.eventId)).toEqual(['event-1', 'event-4']);
  });
});
