import { describe, expect, it } from '@jest/globals';
import { refuseVoid } from './failover.js';

describe('a measured takeover', () => {
  it('is refused when every partition went on at once: the process that was killed had none', () => {
    expect(() => refuseVoid({ kind: 'takeover', allPartitionsMs: 300 })).toThrow('had none of them');
  });

  it('counts when some partition had to wait for the end of the session', () => {
    expect(() => refuseVoid({ kind: 'takeover', allPartitionsMs: 6_100 })).not.toThrow();
  });

  it('has no bearing on a restart, which may be quick', () => {
    expect(() => refuseVoid({ kind: 'restart', allPartitionsMs: 300 })).not.toThrow();
  });
});
