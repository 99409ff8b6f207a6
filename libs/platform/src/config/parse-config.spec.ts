import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BootError } from '../boot-error.js';
import { databaseConfig, databaseReadConfig } from './database-config.js';
import { kafkaConfig } from './kafka-config.js';
import { loginEffects } from './login-effects.js';
import { configSections, type Environment, parseConfig } from './parse-config.js';
import {
  egressConfig,
  pageTokenKeysConfig,
  processConfig,
  registryConfig,
  sealingKeysConfig,
} from './service-config.js';

const schema = configSections({
  process: processConfig,
  kafka: kafkaConfig('webhook-delivery'),
  registry: registryConfig,
  database: databaseConfig,
  databaseRead: databaseReadConfig,
  sealingKeys: sealingKeysConfig,
  pageTokenKeys: pageTokenKeysConfig,
  egress: egressConfig,
});

const sealingKey = randomBytes(32);
const complete: Environment = {
  KAFKA_BROKERS: 'kafka-1:9092, kafka-2:9092',
  SCHEMA_REGISTRY_URL: 'http://user:registry-password@registry:8081/apis/ccompat/v7',
  DATABASE_URL: 'postgresql://waypost:database-password@db:5432/waypost',
  WAYPOST_SEALING_KEY: sealingKey.toString('base64'),
  WAYPOST_PAGE_TOKEN_KEY: randomBytes(32).toString('base64'),
};

function pemFile(block: string): { readonly path: string; readonly pem: string } {
  const path = join(mkdtempSync(join(tmpdir(), 'waypost-')), 'file.pem');
  const pem = `-----BEGIN ${block}-----\nMIIB\n-----END ${block}-----\n`;
  writeFileSync(path, pem);
  return { path, pem };
}

function problemsOf(env: Environment): string[] {
  try {
    parseConfig(schema, env);
  } catch (error) {
    if (error instanceof BootError) return error.message.split('\n').slice(1);
    throw error;
  }
  return [];
}

describe('parseConfig', () => {
  it('returns a typed object with defaults for unset variables', () => {
    const config = parseConfig(schema, complete);

    expect(config.kafka).toEqual({
      brokers: ['kafka-1:9092', 'kafka-2:9092'],
      clientId: 'webhook-delivery',
      ssl: false,
    });
    expect(config.process).toEqual({
      adminHost: '127.0.0.1',
      adminPort: 0,
      logLevel: 'info',
      instanceId: undefined,
      supervised: false,
    });
    expect(config.sealingKeys).toEqual([sealingKey]);
    expect(config.egress).toEqual({ allowedSubnets: [], denied: [], allowHttp: false });
  });

  it('takes several keys, newest first', () => {
    const older = randomBytes(32);
    const env = { ...complete, WAYPOST_SEALING_KEY: `${sealingKey.toString('base64')}, ${older.toString('base64')}` };
    expect(parseConfig(schema, env).sealingKeys).toEqual([sealingKey, older]);
    expect(problemsOf({ ...env, WAYPOST_SEALING_KEY: `${env.WAYPOST_SEALING_KEY},c2hvcnQ=` })).toHaveLength(1);
  });

  it('reports every problem at once, one line each, naming the variable', () => {
    const problems = problemsOf({ LOG_LEVEL: 'loud', WAYPOST_ADMIN_PORT: '70000', KAFKA_SASL_USERNAME: 'u' });

    expect(problems.map((line) => line.trim().split(' ')[0]).sort()).toEqual([
      'DATABASE_URL',
      'KAFKA_BROKERS',
      'KAFKA_SASL_MECHANISM',
      'KAFKA_SASL_PASSWORD',
      'LOG_LEVEL',
      'SCHEMA_REGISTRY_URL',
      'WAYPOST_ADMIN_PORT',
      'WAYPOST_PAGE_TOKEN_KEY',
      'WAYPOST_SEALING_KEY',
    ]);
    for (const line of problems) expect(line).toMatch(/ must be | are set together /);
  });

  it('never prints a value, since any of them may be a secret', () => {
    const message = problemsOf({
      ...complete,
      WAYPOST_SEALING_KEY: 'c2hvcnQ=',
      DATABASE_URL: 'mysql://root:database-password@db/x',
      KAFKA_SASL_PASSWORD: 'kafka-password',
    }).join('\n');

    expect(message).toContain('WAYPOST_SEALING_KEY');
    expect(message).not.toMatch(/c2hvcnQ|database-password|kafka-password/);
  });

  it('takes an empty variable as unset', () => {
    expect(parseConfig(schema, { ...complete, LOG_LEVEL: '', KAFKA_SASL_USERNAME: '' }).process.logLevel).toBe('info');
  });

  it('reads SASL credentials and a certificate authority from its file, which implies TLS', () => {
    const caFile = join(mkdtempSync(join(tmpdir(), 'waypost-')), 'ca.pem');
    const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
    writeFileSync(caFile, pem);

    const { kafka } = parseConfig(schema, {
      ...complete,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: 'waypost',
      KAFKA_SASL_PASSWORD: ' spaces kept ',
      KAFKA_TLS_CA_FILE: caFile,
    });

    expect(kafka.ssl).toEqual({ ca: pem });
    expect(kafka.sasl).toEqual({ mechanism: 'scram-sha-512', username: 'waypost', password: ' spaces kept ' });
  });

  it('reads a login with tokens, whole or not at all, and never together with a password', () => {
    const tokens = {
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_OAUTH_TOKEN_URL: 'https://login.example/token',
      KAFKA_OAUTH_CLIENT_ID: 'waypost',
      KAFKA_OAUTH_CLIENT_SECRET: 'token-secret',
    };
    expect(parseConfig(schema, { ...complete, ...tokens }).kafka.sasl).toMatchObject({ mechanism: 'oauthbearer' });
    const { KAFKA_OAUTH_CLIENT_SECRET: _secret, ...incomplete } = tokens;
    expect(problemsOf({ ...complete, ...incomplete })).toEqual([
      expect.stringMatching(/^ {2}KAFKA_OAUTH_CLIENT_SECRET is missing/),
    ]);
    for (const [name, others] of [
      ['KAFKA_SASL_PASSWORD', tokens],
      ['KAFKA_OAUTH_SCOPE', {}],
    ] as const) {
      const problems = problemsOf({ ...complete, ...others, [name]: 'token-secret' });
      expect(problems).toEqual([expect.stringMatching(new RegExp(`^ {2}${name} has no effect`))]);
      expect(problems.join()).not.toContain('token-secret');
    }
  });

  it('reads a login by IAM for Amazon MSK, and names the package that it needs', () => {
    const iam = { ...complete, KAFKA_SASL_MECHANISM: 'aws-msk-iam', KAFKA_AWS_REGION: 'eu-west-1' };
    expect(problemsOf(iam)).toEqual([
      '  KAFKA_SASL_MECHANISM needs a package that is not installed: npm install aws-msk-iam-sasl-signer-js',
    ]);
    const signer = () => Promise.resolve({ generateAuthToken: () => Promise.resolve({ token: '', expiryTime: 0 }) });
    const { sasl } = parseConfig(kafkaConfig('waypost', { ...loginEffects(), signer }), iam);
    expect(sasl).toEqual({ mechanism: 'oauthbearer', oauthBearerProvider: expect.any(Function) });
    expect(() =>
      parseConfig(kafkaConfig('waypost', { ...loginEffects(), signer }), { ...iam, KAFKA_AWS_REGION: '' }),
    ).toThrow('KAFKA_AWS_REGION is missing');
  });

  it('renews the token of a login by the clock that it is given', async () => {
    let [requests, monotonicMs] = [0, 0];
    const answer = () => Response.json({ access_token: `token-${String(++requests)}`, expires_in: 100 });
    const effects = { ...loginEffects(), fetch: () => Promise.resolve(answer()), monotonicMs: () => monotonicMs };
    const { sasl } = parseConfig(kafkaConfig('waypost', effects), {
      ...complete,
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_OAUTH_TOKEN_URL: 'https://login.example/token',
      KAFKA_OAUTH_CLIENT_ID: 'waypost',
      KAFKA_OAUTH_CLIENT_SECRET: 'token-secret',
    });
    if (sasl?.mechanism !== 'oauthbearer') throw new Error('It is no login by tokens.');
    expect(await sasl.oauthBearerProvider()).toEqual({ value: 'token-1' });
    monotonicMs = 49_999;
    expect(await sasl.oauthBearerProvider()).toEqual({ value: 'token-1' });
    monotonicMs = 50_000;
    expect(await sasl.oauthBearerProvider()).toEqual({ value: 'token-2' });
  });

  it('names the variable of a certificate file that cannot be read', () => {
    expect(problemsOf({ ...complete, KAFKA_TLS_CA_FILE: '/does/not/exist.pem' })).toEqual([
      '  KAFKA_TLS_CA_FILE is not usable: it must be a readable PEM file with the certificate authority',
    ]);
  });

  it("reads the client's certificate for Kafka, which also implies TLS", () => {
    const [cert, key] = [pemFile('CERTIFICATE'), pemFile('EC PRIVATE KEY')];
    const env = { ...complete, KAFKA_TLS_CERT_FILE: cert.path, KAFKA_TLS_KEY_FILE: key.path };
    expect(parseConfig(schema, env).kafka.ssl).toEqual({ cert: cert.pem, key: key.pem });
  });

  it('reads the certificate authority of a registry with https', () => {
    const ca = pemFile('CERTIFICATE');
    const SCHEMA_REGISTRY_URL = 'https://user:password@registry/';
    const env = { ...complete, SCHEMA_REGISTRY_URL, SCHEMA_REGISTRY_CA_FILE: ca.path };
    expect(parseConfig(schema, env).registry).toEqual({ url: SCHEMA_REGISTRY_URL, ca: ca.pem });
  });

  it.each([
    [{ KAFKA_TLS_CERT_FILE: 'CERTIFICATE' }, 'KAFKA_TLS_KEY_FILE is missing'],
    [{ KAFKA_TLS_KEY_FILE: 'PRIVATE KEY' }, 'KAFKA_TLS_CERT_FILE is missing'],
    [{ KAFKA_TLS_CERT_FILE: 'PRIVATE KEY', KAFKA_TLS_KEY_FILE: 'PRIVATE KEY' }, 'KAFKA_TLS_CERT_FILE is not usable'],
    [{ KAFKA_TLS_CA_FILE: 'CERTIFICATE', KAFKA_TLS: 'false' }, 'KAFKA_TLS is false although'],
    [{ SCHEMA_REGISTRY_CA_FILE: 'CERTIFICATE' }, 'SCHEMA_REGISTRY_CA_FILE has no effect with http'],
  ])('refuses certificates that would not be used: %j', (blocks, problem) => {
    const files = Object.entries(blocks).map(([name, block]) => [
      name,
      block === 'false' ? block : pemFile(block).path,
    ]);
    const problems = problemsOf({ ...complete, ...(Object.fromEntries(files) as Environment) });
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    'sslmode=disable',
    'sslmode=require',
    'sslmode=verify-ca',
    'sslmode=verify-full',
    'ssl=true',
    'ssl=0',
    'application_name=x',
  ])('takes a database URL with %s', (query) => {
    const DATABASE_URL = `postgres://u:p@db/waypost?${query}`;
    expect(parseConfig(schema, { ...complete, DATABASE_URL }).database).toEqual({ url: DATABASE_URL });
  });

  it.each([
    ['sslmode=no-verify', 'sslmode must be disable or verify-full'],
    ['sslmode=prefer', 'sslmode must be disable or verify-full'],
    ['sslmode=allow', 'sslmode must be disable or verify-full'],
    ['sslmode=', 'sslmode must be disable or verify-full'],
    ['ssl=no-verify', 'ssl must be true or false'],
    ['ssl=%7B%22rejectUnauthorized%22%3Afalse%7D', 'ssl must be true or false'],
    ['sslmode=disable&ssl=true', 'both asks for TLS and switches it off'],
    ['sslmode=verify-full&ssl=0', 'both asks for TLS and switches it off'],
    ['sslmode=verify-full&sslmode=disable', 'sslmode may appear only once'],
    ['sslmode=require&uselibpqcompat=true', 'uselibpqcompat'],
    ['sslmode=verify-full&sslrootcert=/does/not/exist.pem', 'sslrootcert must name a readable PEM file'],
    ['sslcert=/does/not/exist.pem', 'sslcert and sslkey belong together'],
  ])('refuses a database URL with %s, which could end unverified', (query, problem) => {
    const problems = problemsOf({ ...complete, DATABASE_URL: `postgres://u:database-password@db/waypost?${query}` });
    expect(problems.join('\n')).toContain(problem);
    expect(problems.join('\n')).toMatch(/^ {2}DATABASE_URL is not usable/);
    expect(problems.join('\n')).not.toContain('database-password');
  });

  it('reads the URL of a standby for pages, or none, by the same rules', () => {
    const DATABASE_READ_URL = 'postgres://u:database-password@standby/waypost?sslmode=verify-full';
    expect(parseConfig(schema, { ...complete, DATABASE_READ_URL }).databaseRead).toEqual({
      readUrl: DATABASE_READ_URL,
    });
    expect(parseConfig(schema, complete).databaseRead).toEqual({ readUrl: undefined });

    const problems = problemsOf({ ...complete, DATABASE_READ_URL: DATABASE_READ_URL.replace('verify-full', 'allow') });
    expect(problems).toEqual([expect.stringMatching(/^ {2}DATABASE_READ_URL is not usable/)]);
    expect(problems.join()).not.toContain('database-password');
  });

  it('refuses PGSSLMODE, since it would be overlooked', () => {
    expect(problemsOf({ ...complete, PGSSLMODE: 'verify-full' })).toEqual([expect.stringMatching(/^ {2}PGSSLMODE /)]);
  });

  it('reads what must not be called, and the authority of internal receivers', () => {
    const ca = pemFile('CERTIFICATE');
    const env = { ...complete, WAYPOST_EGRESS_DENY: '203.0.113.0/24, hooks.example', WAYPOST_EGRESS_CA_FILE: ca.path };

    expect(parseConfig(schema, env).egress).toMatchObject({
      denied: ['203.0.113.0/24', 'hooks.example'],
      trustedCa: ca.pem,
    });
    for (const entry of ['203.0.113.7', 'hooks..example', 'https://hooks.example', '203.0.113.0/40']) {
      expect(problemsOf({ ...complete, WAYPOST_EGRESS_DENY: entry })).toHaveLength(1);
    }
  });

  it('reads a proxy for what goes out, and refuses one that cannot work without printing its password', () => {
    const proxyUrl = 'http://user:proxy%40password@proxy.internal:3128';

    expect(parseConfig(schema, { ...complete, WAYPOST_EGRESS_PROXY_URL: proxyUrl }).egress).toMatchObject({ proxyUrl });
    for (const unusable of [
      'https://u:proxy-password@proxy',
      'http://u:proxy-password%zz@proxy',
      'http://proxy/path',
    ]) {
      const problems = problemsOf({ ...complete, WAYPOST_EGRESS_PROXY_URL: unusable });
      expect(problems).toHaveLength(1);
      expect(problems.join()).not.toContain('proxy-password');
    }
  });

  it.each(['10.0.0.0', '10.0.0.0/33', '::1/129', 'lan/8', '10.0.0.0/8/8'])(
    'refuses %p in the list of allowed subnets',
    (subnet) => expect(problemsOf({ ...complete, WAYPOST_EGRESS_ALLOW: `127.0.0.0/8,${subnet}` })).toHaveLength(1),
  );
});
