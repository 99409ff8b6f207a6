import { describe, expect, it } from '@jest/globals';
import type { FigureBucket } from '@waypost/client';
import { dayFiguresOf } from './day-figures.js';

function bucketOf(subscriptionId: string, deliveries: Partial<FigureBucket['deliveries']>): FigureBucket {
  const none = { delivered: 0, pending: 0, failed: 0, expired: 0 };
  return { subscriptionId, deliveries: { ...none, ...deliveries } } as FigureBucket;
}

describe('the figures of a day', () => {
  it('are added up by subscription, and what has expired has failed', () => {
    const buckets = [
      bucketOf('a', { delivered: 2, failed: 1 }),
      bucketOf('b', { pending: 4 }),
      bucketOf('a', { delivered: 3, expired: 5 }),
    ];
    expect([...dayFiguresOf(buckets)]).toEqual([
      ['a', { delivered: 5, pending: 0, failed: 6 }],
      ['b', { delivered: 0, pending: 4, failed: 0 }],
    ]);
  });
});
