import { describe, expect, it } from '@jest/globals';
import { count, counts, flagsParser, some, toggle } from './bench-flags.js';

const bench = { name: 'example', description: 'Measures an example.', quick: 'short' };
const parseFlags = flagsParser(bench, {
  only: some(['drain', 'latency']),
  seconds: count('of a measurement', 20, 6),
  sizes: counts('of the state', [10, 20], [10]),
  otherRows: count('of another table', 5, 1, 0),
  restless: toggle('other vehicles'),
});

function parse(...args: string[]) {
  return parseFlags(args, (command) => {
    command.exitOverride().configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  });
}

describe('The flags of a benchmark', () => {
  it('measure everything at full size by default', () => {
    expect(parse()).toEqual({
      quick: false,
      keep: false,
      writeDocs: false,
      dataDir: '.waypost/bench-example',
      only: ['drain', 'latency'],
      seconds: 20,
      sizes: [10, 20],
      otherRows: 5,
      restless: false,
    });
  });

  it('are smaller with --quick, unless they are given', () => {
    expect(parse('--quick')).toMatchObject({ seconds: 6, sizes: [10] });
    expect(parse('--quick', '--seconds', '30')).toMatchObject({ seconds: 30, sizes: [10] });
  });

  it('take lists, names in several words, and 0 where it is allowed', () => {
    const given = parse('--only', 'latency, drain', '--sizes', '1,2,4', '--other-rows', '0', '--restless');
    expect(given).toMatchObject({ only: ['latency', 'drain'], sizes: [1, 2, 4], otherRows: 0, restless: true });
  });

  it('show in their help what a full and a quick run take', () => {
    let help = '';
    const writeOut = (text: string): void => void (help += text);
    expect(() => parseFlags(['--help'], (command) => command.exitOverride().configureOutput({ writeOut }))).toThrow();
    expect(help).toContain('--seconds <n>');
    expect(help.replaceAll(/\s+/g, ' ')).toContain('of a measurement (default: 20, quick 6)');
  });

  it.each([['--only', 'drains'], ['--seconds', '0'], ['--seconds', '1.5'], ['--sizes', '1,x'], ['--nothing']])(
    'refuse %s %s',
    (...args) => expect(() => parse(...args)).toThrow(),
  );
});
