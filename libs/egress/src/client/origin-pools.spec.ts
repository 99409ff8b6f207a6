import { describe, expect, it } from '@jest/globals';
import { createOriginPools } from './origin-pools.js';

const build = () =>
  createOriginPools({
    connect: (_target, callback) => {
      callback(new Error('no test connects'), null);
    },
    connectionsPerOrigin: 1,
    maxIdleOrigins: 2,
    keepAliveMs: 1_000,
    maxConnectionAgeMs: 1_000,
    maxResponseHeaderBytes: 16_384,
  });

describe('createOriginPools', () => {
  it('gives the same pool for an origin while it is known', () => {
    const pools = build();
    const first = pools.lease('https://a.example');
    const second = pools.lease('https://a.example');
    first.release();
    second.release();

    expect(second.pool).toBe(first.pool);
    expect(pools.lease('https://a.example').pool).toBe(first.pool);
  });

  it('keeps only the most recently used idle origins', () => {
    const pools = build();
    const poolOfA = pools.lease('https://a.example');
    poolOfA.release();
    for (const name of ['b', 'c', 'd', 'e']) pools.lease(`https://${name}.example`).release();

    expect(pools.size).toBe(2);
    expect(pools.lease('https://a.example').pool).not.toBe(poolOfA.pool);
    expect(poolOfA.pool.closed).toBe(true);
  });

  it('keeps every origin that has something in flight', () => {
    const pools = build();
    const leases = ['a', 'b', 'c', 'd'].map((name) => pools.lease(`https://${name}.example`));

    expect(pools.size).toBe(4);
    leases.forEach((lease) => {
      lease.release();
    });
    expect(pools.size).toBe(2);
  });
});
