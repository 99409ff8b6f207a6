import { describe, expect, it } from '@jest/globals';
import { parseBenchFlags, type BenchFlags } from './bench-flags.js';

function parse(...args: string[]): BenchFlags {
  return parseBenchFlags(args, (command) => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
  });
}

describe('The flags of the benchmark', () => {
  it('measure everything on five million pings by default', () => {
    expect(parse()).toMatchObject({
      pings: 5_000_000,
      devices: 20_000,
      rounds: 3,
      only: ['drain', 'latency', 'restore', 'failover', 'rules'],
      restoreDevices: [200_000, 2_000_000],
    });
  });

  it('are smaller when it must be quick, unless they are given', () => {
    expect(parse('--quick', '--rounds', '2')).toMatchObject({ pings: 1_000_000, rounds: 2, restoreDevices: [200_000] });
  });

  it('take lists', () => {
    expect(parse('--only', 'drain,restore', '--processes', '1,2,4')).toMatchObject({
      only: ['drain', 'restore'],
      processes: [1, 2, 4],
    });
  });

  it.each([
    ['--only', 'drains'],
    ['--pings', '0'],
    ['--rounds', '1.5'],
  ])('refuse %s %s', (flag, value) => {
    expect(() => parse(flag, value)).toThrow();
  });
});
