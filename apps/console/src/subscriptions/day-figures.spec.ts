import { describe, expect, it } from '@jest/globals';
import type { FigureBucket } from '@waypost/client';
import { dayFiguresOf } from './day-figures.js';

function bucketOf(subscriptionId: string, deliveries: Partial<FigureBucket['deliveries']>): FigureBucket {
  const none = { delivered: 0, pending: 0, failed: 0, expired: 0 };
  return { subscriptionId, deliveries: { ...none, ...deliveries } } as FigureBucket;
}

describe('the figures of a day', () => {
  it('are those of each subscription, and what has expired has failed', () => {
    const totals = [bucketOf('a', { delivered: 5, failed: 1, expired: 5 }), bucketOf('b', { pending: 4 })];
    expect([...dayFiguresOf(totals)]).toEqual([
      ['a', { delivered: 5, pending: 0, failed: 6 }],
      ['b', { delivered: 0, pending: 4, failed: 0 }],
    ]);
  });
});
