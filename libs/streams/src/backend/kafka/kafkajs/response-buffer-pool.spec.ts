import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { leaseOf, ResponseBufferPool } from './response-buffer-pool.js';

const MIB = 1024 * 1024;

function memoryOf(buffer: Buffer): ArrayBufferLike {
  return buffer.buffer;
}

/** As a batch of the response holds it. */
function hold(buffer: Buffer): () => void {
  const lease = leaseOf(buffer);
  if (lease === null) throw new Error('This buffer is not on loan.');
  lease.hold();
  return () => lease.release();
}

describe('the memory of large responses', () => {
  it('is as large as was asked for', () => {
    const memory = new ResponseBufferPool();
    for (const size of [4, 256 * 1024, MIB, 8 * MIB + 1]) expect(memory.take(size)).toHaveLength(size);
  });

  it('is reused once every holder has released its part, and not before', () => {
    const memory = new ResponseBufferPool();
    const first = memory.take(3 * MIB);
    const holders = [first.subarray(0, MIB), first.subarray(MIB)].map(hold);
    const second = memory.take(3 * MIB);
    expect(memoryOf(second)).not.toBe(memoryOf(first));
    holders[0]?.();
    expect(memoryOf(memory.take(3 * MIB))).not.toBe(memoryOf(first));
    holders[1]?.();
    expect(memoryOf(memory.take(2.5 * MIB))).toBe(memoryOf(first));
  });

  it('is not used for a response that is larger than it', () => {
    const memory = new ResponseBufferPool();
    hold(memory.take(MIB))();
    expect(memory.take(MIB + 1)).toHaveLength(MIB + 1);
  });

  it('is pooled neither for small responses nor for a huge one', () => {
    const memory = new ResponseBufferPool();
    expect(leaseOf(memory.take(1_000))).toBeNull();
    const huge = memory.take(40 * MIB);
    hold(huge)();
    expect(memoryOf(memory.take(MIB))).not.toBe(memoryOf(huge));
  });

  it('is kept where it is large, even after much small memory', () => {
    const memory = new ResponseBufferPool();
    [1, 1, 1].map(() => hold(memory.take(300 * 1024))).forEach((letGo) => letGo());
    const large = memory.take(8 * MIB);
    hold(large)();
    expect(memoryOf(memory.take(8 * MIB))).toBe(memoryOf(large));
  });

  it('cannot be held again once it was given back', () => {
    const response = new ResponseBufferPool().take(MIB);
    hold(response)();
    expect(() => hold(response)).toThrow('used after its release');
  });

  it('is never memory of a response that is still held', () => {
    const steps = fc.array(fc.record({ size: fc.integer({ min: 256 * 1024, max: 4 * MIB }), releasing: fc.nat(6) }), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(steps, (taken) => {
        const memory = new ResponseBufferPool();
        const held: { readonly buffer: Buffer; readonly letGo: () => void }[] = [];
        for (const { size, releasing } of taken) {
          const buffer = memory.take(size);
          expect(held.map((other) => memoryOf(other.buffer))).not.toContain(memoryOf(buffer));
          held.push({ buffer, letGo: hold(buffer) });
          held.splice(releasing, 1).forEach(({ letGo }) => letGo());
        }
      }),
      { numRuns: 50 },
    );
  });
});
