import { describe, expect, it } from '@jest/globals';
import { parseBenchFlags, SCENARIOS } from './bench-flags.js';

function silent(args: readonly string[]) {
  return parseBenchFlags(args, (command) => command.exitOverride().configureOutput({ writeErr: () => undefined }));
}

describe('The flags of the delivery benchmark', () => {
  it('measure everything unless some scenarios are named', () => {
    expect(silent([]).only).toEqual(SCENARIOS);
    expect(silent(['--only', 'healthy, kill']).only).toEqual(['healthy', 'kill']);
  });

  it('measure for a shorter time when it is to be quick, and for as long as is asked for in any case', () => {
    expect(silent(['--quick']).seconds).toBeLessThan(silent([]).seconds);
    expect(silent(['--quick', '--seconds', '30']).seconds).toBe(30);
  });

  it('keep the history unless it is left out', () => {
    expect(silent([]).history).toBe(true);
    expect(silent(['--no-history']).history).toBe(false);
  });

  it.each([['--only', 'healthy,unknown'], ['--seconds', '0'], ['--seconds', '1.5'], ['--nothing']])(
    'refuse %p %p',
    (...args) => {
      expect(() => silent(args)).toThrow();
    },
  );
});
