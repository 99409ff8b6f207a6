import { describe, expect, it } from '@jest/globals';
import type { EgressResult } from './egress-result.js';
import { Exchange } from './exchange.js';

/** What becomes of an exchange that waits until its deadline. */
function expired(deadlineMs: number): Promise<EgressResult> {
  const limits = { maxBodyBytes: 0, keepBody: false };
  const rest = { signal: undefined, group: undefined, isWanted: undefined };
  return new Promise((resolve) => {
    const exchange = new Exchange({ head: '', body: Buffer.alloc(0), deadlineMs, limits, ...rest }, resolve);
    exchange.waitIn({ leave: () => undefined, isWithoutTurn: () => false });
  });
}

describe('the detail of a timeout', () => {
  it('has whole milliseconds, though the rest of an attempt has fractions of one', async () => {
    expect(await expired(59.7)).toMatchObject({ errorCode: 'timeout', detail: 'no response within 60 ms' });
  });
});
