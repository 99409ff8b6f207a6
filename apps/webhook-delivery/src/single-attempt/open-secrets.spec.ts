import { describe, expect, it } from '@jest/globals';
import { rigSubscription } from '../../../../test/support/attempt-rig.js';
import { createSecretOpener } from './open-secrets.js';

const SEALING_KEYS = [Buffer.alloc(32, 3)];
const NEW = Buffer.alloc(32, 1);
const OLD = Buffer.alloc(32, 2);
const OLDEST = Buffer.alloc(32, 4);

describe('the secrets that sign (R-17)', () => {
  const secrets = [
    { bytes: NEW, expiresAt: null },
    { bytes: OLD, expiresAt: 2_000 },
    { bytes: OLDEST, expiresAt: 1_000 },
  ];

  it('are those that are valid at the time of each attempt, also after a clock that was ahead for a moment', () => {
    const subscription = rigSubscription('sub-1', {}, { secrets });
    const open = createSecretOpener(SEALING_KEYS);
    const signing = (nowMs: number) => {
      const opened = open(subscription, nowMs);
      return opened.type === 'opened' ? opened.signing.map((secret) => secret[0]) : opened.result;
    };
    expect([999, 1_000, 1_999, 2_000, 9_999].map(signing)).toEqual([[1, 2, 4], [1, 2], [1, 2], [1], [1]]);
    expect([1_999, 999].map(signing)).toEqual([
      [1, 2],
      [1, 2, 4],
    ]);
  });
});
