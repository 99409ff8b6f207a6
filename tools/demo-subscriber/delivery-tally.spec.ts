import { describe, expect, it } from '@jest/globals';
import { createDeliveryTally } from './delivery-tally.js';

const eventTime = '2026-01-15T08:00:00.000Z';
const sentAt = Date.parse(eventTime);

describe('The tally of deliveries', () => {
  it('says so when nothing has come yet', () => {
    expect(createDeliveryTally().summary()).toBe('webhooks: none yet | verified 0, bad 0, repeats 0');
  });

  it('counts events by type, each eventId once, and what could not be verified', () => {
    const tally = createDeliveryTally();
    tally.verified({ eventId: '1', eventType: 'position', eventTime }, sentAt + 400);
    tally.verified({ eventId: '1', eventType: 'position', eventTime }, sentAt + 900);
    tally.verified({ eventId: '2', eventType: 'ignition_on', eventTime }, sentAt + 1_000);
    tally.bad();
    expect(tally.summary()).toBe(
      'webhooks: position 1, ignition_on 1 | verified 3, bad 1, repeats 1 | ping to webhook: median 1.0 s, p99 1.0 s',
    );
  });

  it('tells the delays since the last line only', () => {
    const tally = createDeliveryTally();
    for (let n = 0; n < 100; n++) {
      tally.verified({ eventId: String(n), eventType: 'position', eventTime }, sentAt + n * 10);
    }
    expect(tally.summary()).toMatch(/median 0\.5 s, p99 1\.0 s$/);
    expect(tally.summary()).toBe('webhooks: position 100 | verified 100, bad 0, repeats 0');
  });
});
