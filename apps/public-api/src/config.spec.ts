import { describe, expect, it } from '@jest/globals';
import { readConfig } from './config.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const complete = {
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  DATABASE_URL: 'postgres://localhost/waypost',
  WAYPOST_SEALING_KEY: KEY,
  WAYPOST_PAGE_TOKEN_KEY: KEY,
};

describe('the address on which public-api serves the API (R-40)', () => {
  it('is all of IPv4 by default, and all of IPv6 too on request', () => {
    expect(readConfig(complete).http.host).toBe('0.0.0.0');
    expect(readConfig({ ...complete, WAYPOST_HOST: '::' }).http.host).toBe('::');
  });

  it('is never a name, which could become another address', () => {
    expect(() => readConfig({ ...complete, WAYPOST_HOST: 'localhost' })).toThrow(/WAYPOST_HOST is not usable/);
  });
});
