import { describe, expect, it } from '@jest/globals';
import { topics } from '../topics/topics.js';
import { rejectedRecord } from './read-value.js';

const LIMIT_BYTES = Number(topics.telemetryRejected.configs['max.message.bytes']);
const source = { topic: 'telemetry.pings', partition: 3 };

function rejectionOf(valueBytes: number, keyBytes = 8) {
  const record = { offset: 7, timestamp: 5, key: Buffer.alloc(keyBytes), value: Buffer.alloc(valueBytes) };
  return rejectedRecord(source, record, { reason: 'malformed', detail: 'x'.repeat(9_000) });
}

describe('the rejection of a record (R-2)', () => {
  it('has its bytes, its place and why', () => {
    expect(rejectionOf(100)).toMatchObject({
      sourceTopic: 'telemetry.pings',
      sourcePartition: 3,
      sourceOffset: 7,
      sourceTimestamp: 5,
      sourceKey: Buffer.alloc(8),
      sourceValue: Buffer.alloc(100),
      reason: 'malformed',
    });
  });

  it.each([
    ['a value that its topic took since it was compressed well', LIMIT_BYTES, 8],
    ['a value that leaves no room for its place and reason', LIMIT_BYTES - 1_000, 8],
    ['a key, which it would have twice', 100, LIMIT_BYTES / 2],
  ])('has the place alone of %s: it would be refused, and the partition would stop', (_what, valueBytes, keyBytes) => {
    const { sourceKey, sourceValue, sourceOffset, reason, detail } = rejectionOf(valueBytes, keyBytes);
    expect([sourceKey, sourceValue, sourceOffset, reason]).toEqual([null, null, 7, 'malformed']);
    expect(detail).toContain(`(left out here, with ${String(valueBytes + 2 * keyBytes)} bytes)`);
    expect(String(detail).length).toBeLessThan(600);
  });
});
