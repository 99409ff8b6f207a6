import { describe, expect, it } from '@jest/globals';
import type { DecodedRecord } from '../topic-reading/decode-batch.js';
import { createDeliveryLedger } from './delivery-ledger.js';
import { createEventLedger } from './event-ledger.js';
import { describeDeliveries, differencesOf, enterFollowed, enterLogged } from './verify-report.js';

describe('A record of the events', () => {
  it('that cannot be decoded is a difference, by its place', () => {
    const ledger = createEventLedger();
    const record = { topic: 't', partition: 2, key: null, value: null, problem: 'malformed: cut short' };
    enterLogged(
      [7, 8].map((offset) => ({ ...record, offset, timestamp: offset })),
      {
        ledger,
        entryOf: () => {
          throw new Error('It has no event.');
        },
        isSettled: () => true,
        isInRange: ({ timestamp }) => timestamp < 8,
      },
    );
    expect(ledger.findings().unreadable).toEqual(['partition 2, offset 7: malformed: cut short']);
  });

  it('that the rules do not make is a difference within the range only', () => {
    const ledger = createEventLedger();
    enterLogged(
      [7, 8].map((offset) => ({ topic: 't', partition: 2, key: null, value: {}, offset, timestamp: offset })),
      {
        ledger,
        entryOf: (partition) => ({ partition, encoded: Buffer.from('x'), name: 'x', isJudged: true }),
        isSettled: () => true,
        isInRange: ({ timestamp }) => timestamp < 8,
      },
    );
    expect(ledger.findings().unexpected).toEqual(['x']);
  });
});

describe('A record of the deliveries or attempts', () => {
  const recordOf = (more: Partial<DecodedRecord>): DecodedRecord => {
    return { topic: 'webhook.deliveries', partition: 2, offset: 7, timestamp: 0, key: null, value: null, ...more };
  };

  it('that cannot be decoded is a difference, by its place', () => {
    const ledger = createDeliveryLedger([]);
    const taken: unknown[] = [];
    const records = [recordOf({ value: 'first' }), recordOf({ problem: 'malformed: cut short' }), recordOf({})];
    enterFollowed(records, ledger, (value) => taken.push(value));
    expect(taken).toEqual(['first']);
    expect(ledger.findings().unreadable).toEqual([
      'webhook.deliveries, partition 2, offset 7: malformed: cut short',
      'webhook.deliveries, partition 2, offset 7: no value',
    ]);
  });

  it('is a difference whichever way the logs do not match', () => {
    const [events, deliveries] = [createEventLedger().findings(), createDeliveryLedger([]).findings()];
    const differences = differencesOf(
      { ...events, missing: ['a'], unexpected: ['b'], repeated: ['c'], unreadable: ['d'] },
      { ...deliveries, missing: ['e'], repeated: ['f'], unreadable: ['g'] },
    );
    expect(differences.toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it('makes the logs differ', () => {
    const deliveries = createDeliveryLedger([]);
    deliveries.unreadable('a place');
    const findings = deliveries.findings();
    expect(differencesOf(createEventLedger().findings(), findings)).toEqual(['a place']);
    expect(describeDeliveries(findings).join('\n')).toContain('unreadable: 1 (a place)');
  });
});
