import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { OperationalEvent } from '@waypost/domain';
import { useTestStore } from '../../../../test/support/test-store.js';
import type { OperationalEventPosition } from './operational-event-store.js';
const suite = useTestStore();

function operation(given: Partial<OperationalEvent> = {}): OperationalEvent {
  return {
    id: randomUUID(),
    subscriptionId: randomUUID(),
    fleetId: 'acme',
    type: 'exhausted',
    occurredAt: 1_000,
    reason: 'The endpoint answered 503 five times.',
    eventId: randomUUID(),
    deliveryOffset: 9_007_199_254_740_991,
    statusCode: 503,
    errorCode: null,
    ...given,
  };
}
function list(subscriptionId: string, limit = 2_000, before: OperationalEventPosition | null = null) {
  return suite.store.operationalEvents.list({ fleetId: 'acme', subscriptionId, limit, before });
}

describe('OperationalEventStore', () => {
  it('stores each event once and unchanged, and lists them newest first', async () => {
    const subscriptionId = randomUUID();
    const old = operation({ subscriptionId, occurredAt: 1_000 });
    const bare = { eventId: null, deliveryOffset: null, statusCode: null, errorCode: 'timeout' };
    const young = operation({ subscriptionId, occurredAt: 2_000, type: 'probed', ...bare });
    await suite.store.operationalEvents.keep([old, young, operation()]);
    await suite.store.operationalEvents.keep([{ ...old, reason: 'repeated' }, young]);
    await suite.store.operationalEvents.keep([]);
    expect(await list(subscriptionId)).toEqual([young, old]);
  });

  it('lists all events page by page, including those of one millisecond', async () => {
    const subscriptionId = randomUUID();
    const events = [3, 3, 3, 1, 2].map((occurredAt) => operation({ subscriptionId, occurredAt }));
    await suite.store.operationalEvents.keep(events);
    const walked: string[] = [];
    let before: OperationalEventPosition | null = null;
    for (;;) {
      const [next] = await list(subscriptionId, 1, before);
      if (next === undefined) break;
      walked.push(next.id);
      before = { occurredAt: next.occurredAt, id: next.id };
    }
    expect(walked).toEqual((await list(subscriptionId)).map(({ id }) => id));
    expect([...walked].sort()).toEqual(events.map(({ id }) => id).sort());
  });

  it("does not list events of another fleet's subscription", async () => {
    const mine = operation();
    await suite.store.operationalEvents.keep([mine]);
    const query = { fleetId: 'other', subscriptionId: mine.subscriptionId, limit: 10, before: null };
    expect(await suite.store.operationalEvents.list(query)).toEqual([]);
  });

  it('keeps the newest 500 events of each type of a subscription, whatever the batches', async () => {
    const subscriptionId = randomUUID();
    const neighbor = operation({ occurredAt: 0 });
    const disabled = operation({ subscriptionId, type: 'disabled', occurredAt: 0 });
    const many = Array.from({ length: 650 }, (_, n) => operation({ subscriptionId, occurredAt: n }));
    await suite.store.operationalEvents.keep([disabled, neighbor, ...many.slice(0, 620)]);
    for (let from = 620; from < many.length; from += 10)
      await suite.store.operationalEvents.keep(many.slice(from, from + 10));
    await suite.store.operationalEvents.keep(many.slice(0, 3));

    const newest = many.slice(150).reverse();
    expect(await list(subscriptionId)).toEqual([...newest, disabled]);
    expect(await list(neighbor.subscriptionId)).toEqual([neighbor]);
  });

  it('tells when the newest of each type occurred, of each of the subscriptions that it is asked for', async () => {
    const [first, second] = [randomUUID(), randomUUID()];
    const tell = (subscriptionId: string, type: string, occurredAt: number) =>
      operation({ subscriptionId, type, occurredAt });
    await suite.store.operationalEvents.keep([
      ...[tell(first, 'suspended', 1_000), tell(first, 'suspended', 3_000), tell(first, 'probed', 2_000)],
      ...[tell(second, 'resumed', 5_000), tell(second, 'exhausted', 6_000)],
      operation({ subscriptionId: second, type: 'suspended', fleetId: 'other' }),
    ]);
    expect(await suite.store.operationalEvents.newest('acme', [second, randomUUID(), first])).toEqual([
      { suspended: null, probed: null, resumed: 5_000 },
      { suspended: null, probed: null, resumed: null },
      { suspended: 3_000, probed: 2_000, resumed: null },
    ]);
    expect(await suite.store.operationalEvents.newest('acme', [])).toEqual([]);
  });

  it('removes events by age', async () => {
    const subscriptionId = randomUUID();
    const kept = operation({ subscriptionId, occurredAt: 50_000 });
    await suite.store.operationalEvents.keep([kept, operation({ subscriptionId, occurredAt: 49_999 })]);
    expect(await suite.store.operationalEvents.trim(50_000)).toBeGreaterThan(0);
    expect(await list(subscriptionId)).toEqual([kept]);
    expect(await suite.store.operationalEvents.trim(50_000)).toBe(0);
  });

  it('accepts any text', async () => {
    const strange = operation({ reason: "quote ' brace { null \0 and \u{1f6f0}", errorCode: 'a,"b"' });
    await suite.store.operationalEvents.keep([strange]);
    const [found] = await list(strange.subscriptionId);
    expect(found).toEqual({ ...strange, reason: strange.reason.replace('\0', '\uFFFD') });
  });
});
