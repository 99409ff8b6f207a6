import { describe, expect, it } from '@jest/globals';
import { isCommit } from './partitions.js';

/** Version 0 of a value of the transaction log: version, producer id, epoch, timeout, status, and what follows. */
function value(status: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.writeBigInt64BE(4_711n, 2);
  bytes.writeInt16BE(3, 10);
  bytes.writeInt32BE(15_000, 12);
  bytes.writeInt8(status, 16);
  return bytes;
}

describe('a record of the transaction log', () => {
  it('counts as a commit when the transaction is complete, not while it is only prepared or aborted', () => {
    // Empty, ongoing, prepared to commit and to abort, complete commit, complete abort.
    expect([0, 1, 2, 3, 4, 5].map((status) => isCommit(value(status)))).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
    ]);
    expect(isCommit(null)).toBe(false);
  });
});
