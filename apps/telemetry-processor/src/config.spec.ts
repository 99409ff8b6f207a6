import { describe, expect, it } from '@jest/globals';
import { readConfig } from './config.js';

const REQUIRED = { KAFKA_BROKERS: 'localhost:9092', SCHEMA_REGISTRY_URL: 'http://localhost:8081' };

describe('the configuration of the telemetry processor', () => {
  it.each([
    ['nothing', {}, { rules: 'all', lingerMs: undefined, stateDir: undefined }],
    ['empty variables', { WAYPOST_RULES: '', WAYPOST_LINGER_MS: '', WAYPOST_STATE_DIR: '' }, { rules: 'all' }],
    ['all rules', { WAYPOST_RULES: 'all' }, { rules: 'all' }],
    ['the position rules', { WAYPOST_RULES: 'positions' }, { rules: 'positions' }],
    ['no linger', { WAYPOST_LINGER_MS: '0' }, { lingerMs: 0 }],
    ['the longest linger', { WAYPOST_LINGER_MS: '2000' }, { lingerMs: 2_000 }],
    ['a folder', { WAYPOST_STATE_DIR: '/var/lib/waypost' }, { stateDir: '/var/lib/waypost' }],
  ])('with %s is as documented', (_what, env, expected) => {
    expect(readConfig({ ...REQUIRED, ...env })).toMatchObject(expected);
  });

  it.each([
    ['WAYPOST_RULES', 'routes', 'one of all, positions'],
    ['WAYPOST_RULES', 'Positions', 'one of all, positions'],
    ['WAYPOST_LINGER_MS', '2001', 'a whole number of milliseconds from 0 to 2000'],
    ['WAYPOST_LINGER_MS', '-1', 'a whole number of milliseconds from 0 to 2000'],
    ['WAYPOST_LINGER_MS', '0.5', 'a whole number of milliseconds from 0 to 2000'],
  ])('refuses %s=%s and says what it must be', (name, text, requirement) => {
    expect(() => readConfig({ ...REQUIRED, [name]: text })).toThrow(`${name} is not usable: it must be ${requirement}`);
  });
});
