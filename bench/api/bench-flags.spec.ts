import { describe, expect, it } from '@jest/globals';
import { CALLS, parseBenchFlags } from './bench-flags.js';

function parse(...args: string[]) {
  return parseBenchFlags(args, (command) => command.exitOverride().configureOutput({ writeErr: () => undefined }));
}

describe('the flags of the benchmark', () => {
  it('are those of a full run when none is given', () => {
    expect(parse()).toMatchObject({ quick: false, only: CALLS, callers: 32, seconds: 20, deliveries: 120_000 });
  });

  it('are shorter with --quick, but what is given counts', () => {
    expect(parse('--quick', '--deliveries', '500')).toMatchObject({ seconds: 5, warmUpSeconds: 2, deliveries: 500 });
  });

  it('take a list of calls', () => {
    expect(parse('--only', 'v2-page,v1-page').only).toEqual(['v2-page', 'v1-page']);
  });

  it.each([['--only', 'v3-page'], ['--callers', '0'], ['--seconds', '1.5'], ['--slowly']])(
    'refuse %s %s',
    (...args) => {
      expect(() => parse(...args)).toThrow();
    },
  );
});
