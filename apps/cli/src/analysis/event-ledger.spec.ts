import { describe, expect, it } from '@jest/globals';
import { createEventLedger, type LedgerEvent } from './event-ledger.js';

describe('Recomputed events held against the log', () => {
  const bytes = (text: string): Buffer => Buffer.from(text);
  const entry = (
    partition: number,
    encoded: Buffer,
    name: string,
    more: Partial<LedgerEvent & { inRange: boolean }> = {},
  ) => ({
    partition,
    encoded,
    name,
    isJudged: true,
    inRange: true,
    isSettled: true,
    ...more,
  });

  const nothing = { missing: [], unexpected: [], repeated: [], unreadable: [] };

  it('agree when each event occurs as often as computed, in its partition', () => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'a'));
    ledger.recomputed({ ...entry(1, bytes('b'), 'b'), inRange: false });
    ledger.logged(entry(0, bytes('a'), 'a'));
    ledger.logged(entry(1, bytes('b'), 'b'));
    expect(ledger.findings()).toEqual({ recomputed: 1, logged: 1, unjudged: 0, ...nothing });
  });

  it.each([
    ['missing', [] as const],
    ['repeated', [0, 0] as const],
  ])('are %s when they are there less or more often', (what, partitions) => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'event a'));
    for (const partition of partitions) ledger.logged(entry(partition, bytes('a'), 'event a'));
    expect(ledger.findings()).toMatchObject({ ...nothing, [what]: ['event a'] });
  });

  it('are unexpected when a field or the partition differs, unless they may be newer than the pings read', () => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'a'));
    ledger.logged(entry(0, bytes('a'), 'a'));
    ledger.logged(entry(0, bytes('A'), 'another a'));
    ledger.logged(entry(1, bytes('a'), 'a elsewhere'));
    ledger.logged({ ...entry(0, bytes('z'), 'a new one'), isSettled: false });
    expect(ledger.findings().unexpected).toEqual(['another a', 'a elsewhere']);
  });

  it('are neither unexpected nor counted after the range, where they can only be those of its pings', () => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'a'));
    ledger.logged(entry(0, bytes('a'), 'a', { inRange: false }));
    ledger.logged(entry(0, bytes('z'), 'a later one', { inRange: false }));
    ledger.logged(entry(0, bytes('y'), 'a later one', { inRange: false, isJudged: false }));
    expect(ledger.findings()).toEqual({ recomputed: 1, logged: 1, unjudged: 0, ...nothing });
  });

  it('are counted, but neither missing nor unexpected, where the state of the device is unknown', () => {
    const ledger = createEventLedger();
    ledger.recomputed(entry(0, bytes('a'), 'a', { isJudged: false }));
    ledger.logged(entry(0, bytes('b'), 'b', { isJudged: false }));
    expect(ledger.findings()).toEqual({ recomputed: 0, logged: 0, unjudged: 1, ...nothing });
  });
});
