import { describe, expect, it } from '@jest/globals';
import { instanceEnvironment, stackEnvironment } from './app-environment.js';

const stack = {
  kafka: { brokers: ['a:1', 'b:2'], clientId: 'waypost' },
  registryUrl: 'http://registry',
  databaseUrl: 'postgres://database',
};
const keys = { sealingKey: 'seal', pageTokenKey: 'page', adminKey: 'abc' };

describe('the environment of the applications', () => {
  it('says where the stack is, allows receivers on this machine, and asks them to go with their supervisor', () => {
    expect(stackEnvironment({}, stack, keys)).toEqual({
      KAFKA_BROKERS: 'a:1,b:2',
      SCHEMA_REGISTRY_URL: 'http://registry',
      DATABASE_URL: 'postgres://database',
      WAYPOST_SEALING_KEY: 'seal',
      WAYPOST_PAGE_TOKEN_KEY: 'page',
      WAYPOST_EGRESS_ALLOW: '127.0.0.0/8,::1/128',
      WAYPOST_ALLOW_HTTP: 'true',
      // printf %s abc | sha256sum
      WAYPOST_ADMIN_KEY_SHA256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      WAYPOST_SUPERVISED: 'true',
    });
  });

  it('lets set variables win, empty ones not', () => {
    const env = { WAYPOST_SEALING_KEY: 'mine', WAYPOST_ALLOW_HTTP: '', LOG_LEVEL: 'debug', KAFKA_SASL_USERNAME: 'me' };
    expect(stackEnvironment(env, stack, keys)).toMatchObject({
      WAYPOST_SEALING_KEY: 'mine',
      WAYPOST_ALLOW_HTTP: 'true',
      LOG_LEVEL: 'debug',
      KAFKA_SASL_USERNAME: 'me',
    });
  });

  it('gives each instance its name and its ports', () => {
    expect(instanceEnvironment({ A: '1' }, 'public-api-0', { adminPort: 5, adminUrls: ['a', 'b'], port: 80 })).toEqual({
      A: '1',
      WAYPOST_INSTANCE_ID: 'public-api-0',
      WAYPOST_ADMIN_PORT: '5',
      WAYPOST_ADMIN_URLS: 'a,b',
      WAYPOST_PORT: '80',
    });
    expect(instanceEnvironment({}, 'webhook-delivery-1', { adminPort: 5 })).not.toHaveProperty('WAYPOST_PORT');
  });
});
