import { describe, expect, it } from '@jest/globals';
import type { Subscription, SubscriptionWithHealth } from '@waypost/client';
import { changed } from './changed.js';

describe('a subscription that was changed', () => {
  const health = { status: 'failing' };
  const before = { id: 'a', status: 'disabled', disabledReason: 'It failed.', health } as SubscriptionWithHealth;

  it('keeps the health that was read before, and nothing else of it', () => {
    expect(changed(before, { id: 'a', status: 'active' } as Subscription)).toEqual({
      id: 'a',
      status: 'active',
      health,
    });
  });

  it('is read first where it was not yet', () => {
    expect(changed(undefined, { id: 'a' } as Subscription)).toBeUndefined();
  });
});
