import { describe, expect, it } from '@jest/globals';
import { parseStartFlags } from './start-flags.js';

/** Mistakes throw instead of ending the process, and print nothing. */
function parse(...args: string[]) {
  return parseStartFlags(args, (command) => command.exitOverride().configureOutput({ writeErr: () => undefined }));
}

const oneEach = { 'telemetry-processor': 1, 'webhook-delivery': 1, 'history-projector': 1, 'public-api': 1 };

describe('parseStartFlags', () => {
  it('starts one of each application and the demo by default, on no particular port', () => {
    expect(parse()).toEqual({ demo: true, dataDir: '.waypost/data', port: undefined, instances: oneEach });
  });

  it('reads every flag, --instances as often as it is given', () => {
    const flags = parse(
      '--no-demo',
      '--data-dir',
      '/d',
      '--port',
      '9000',
      '--instances',
      'public-api=0',
      '--instances',
      'webhook-delivery=3',
    );
    expect(flags).toEqual({
      demo: false,
      dataDir: '/d',
      port: 9000,
      instances: { ...oneEach, 'public-api': 0, 'webhook-delivery': 3 },
    });
    expect(parse().instances).toEqual(oneEach);
  });

  it.each([
    ['--port', '0'],
    ['--port', '65536'],
    ['--port', 'http'],
    ['--instances', 'kafka=2'],
    ['--instances', 'public-api'],
    ['--instances', 'public-api=17'],
    ['--instances', 'public-api=-1'],
  ])('refuses %s %s', (flag, value) => expect(() => parse(flag, value)).toThrow(/It must be/));

  it('refuses unknown names', () => {
    expect(() => parse('--demo-size', '5')).toThrow(/unknown option/);
    expect(() => parse('extra')).toThrow(/too many arguments/);
  });
});
