import { describe, expect, it } from '@jest/globals';
import { createDeliveryTally } from './delivery-tally.js';

function received(eventId: string, eventType: string) {
  return { eventId, eventType, eventTime: '2026-01-15T08:00:00.000Z', eventData: { deviceId: 'van-1' } };
}

describe('The line of the demo subscriber', () => {
  it('shows the pings of a second without webhooks', () => {
    const tally = createDeliveryTally();
    tally.pingSeen();
    expect(tally.line(null)).toBe('pings 1 | webhooks: none this second | verified 0, bad 0, repeats 0');
  });

  it('counts new events per type and second, and deliveries since the start', () => {
    const tally = createDeliveryTally();
    expect(tally.verified(received('1', 'position'))).toBe(true);
    expect(tally.verified(received('1', 'position'))).toBe(false);
    tally.verified(received('2', 'ignition_on'));
    tally.bad();
    expect(tally.line(null)).toBe('pings 0 | webhooks: position 1, ignition_on 1 | verified 3, bad 1, repeats 1');
    expect(tally.line(null)).toBe('pings 0 | webhooks: none this second | verified 3, bad 1, repeats 1');
  });

  it('shows the latency by stage', () => {
    const latency = { p50Ms: 15, p99Ms: 28, stagesMs: { processor: 5, 'fan-out': 4, sender: 6 } };
    expect(createDeliveryTally().line(latency)).toMatch(
      /\| ping in Kafka to webhook: p50 15 ms, p99 28 ms \(processor 5, fan-out 4, sender 6\)$/,
    );
  });
});
