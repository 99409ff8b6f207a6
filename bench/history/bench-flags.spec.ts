import { describe, expect, it } from '@jest/globals';
import { parseBenchFlags } from './bench-flags.js';

function quietly(...args: string[]) {
  return parseBenchFlags(args, (command) => command.exitOverride().configureOutput({ writeErr: () => undefined }));
}

describe('The flags of the history benchmark', () => {
  it('ask for ten million deliveries by default', () => {
    expect(quietly()).toMatchObject({ deliveries: 10_000_000, pages: 1_000, naive: 2_000_000, keep: false });
  });

  it('let a quick run be made larger', () => {
    expect(quietly('--quick', '--deliveries', '1000000')).toMatchObject({ deliveries: 1_000_000, pages: 100 });
  });

  it('take no naive table, but not no deliveries', () => {
    expect(quietly('--naive', '0').naive).toBe(0);
    expect(() => quietly('--deliveries', '0')).toThrow('whole number from 1 on');
    expect(() => quietly('--deliveries', '1e7')).toThrow('whole number');
  });
});
