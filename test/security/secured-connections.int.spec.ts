import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDataSource, databaseRefusal, runMigrations } from '@waypost/database';
import { openManagementStore, openOutboxSession } from '@waypost/management-store';
import { kafkaAccessPart, kafkaConfig, parseConfig } from '@waypost/platform/without-nest';
import { createKafkaBackend, type KafkaSettings, silentLogger } from '@waypost/streams';
import { openTopicAdmin } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { requireTestStack } from '../support/test-stack.js';
import { type SecuredStack, startSecuredStack } from './testing/secured-stack.js';
import { startTokenEndpoint, TOKEN_CLIENT, type TokenEndpoint } from './testing/token-endpoint.js';

let stack: SecuredStack;
beforeAll(async () => {
  stack = await startSecuredStack(requireTestStack().registryUrl);
});
afterAll(async () => {
  await stack.close();
});

/** A transaction through the runtime, and what a reader of committed records sees of it. */
async function roundTrip(kafka: KafkaSettings): Promise<(string | undefined)[]> {
  const topic = `secured-${randomUUID()}`;
  const admin = await openTopicAdmin(kafka);
  await admin.createTopics([{ name: topic, partitions: 1, replicationFactor: 1, configs: {} }]);
  await admin.close();
  const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
  const producer = backend.producer(`secured-${topic}`);
  await producer.init();
  const records = ['one', 'two'].map((value) => ({ topic, partition: 0, key: null, value: Buffer.from(value) }));
  await producer.commit({ records });
  await producer.close();
  const fetcher = backend.fetcher();
  const values: (string | undefined)[] = [];
  await readToEnd(backend, fetcher, { topic, partition: 0 }, 0, (batch) => {
    values.push(...batch.records.map(({ value }) => value?.toString()));
  });
  await fetcher.close();
  await backend.close();
  return values;
}

/** What an application with these settings prints when it starts. */
async function bootErrorOf(kafka: KafkaSettings): Promise<unknown> {
  return Promise.resolve(kafkaAccessPart(kafka).start()).catch((error: unknown) => error);
}
function refused(setting: RegExp) {
  return expect.objectContaining({ code: 'kafka_refused', message: expect.stringMatching(setting) });
}

describe('Kafka over TLS', () => {
  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'carries transactions after a login by %s',
    async (mechanism) => {
      expect(await roundTrip({ ...stack.kafka, sasl: { ...stack.kafka.sasl, mechanism } })).toEqual(['one', 'two']);
    },
  );

  it('takes its settings from the environment, certificates from files', async () => {
    const settings = parseConfig(kafkaConfig('secured'), {
      KAFKA_BROKERS: stack.mutualTls.brokers.join(','),
      KAFKA_TLS_CA_FILE: await stack.file('authority.pem', stack.authority.ca),
      KAFKA_TLS_CERT_FILE: await stack.file('client.pem', stack.client.cert),
      KAFKA_TLS_KEY_FILE: await stack.file('client.key', stack.client.key),
    });
    expect(await roundTrip(settings)).toEqual(['one', 'two']);
    expect(await bootErrorOf(settings)).toBeUndefined();
  });

  it('is refused before anything starts when the authority is another', async () => {
    expect(await bootErrorOf({ ...stack.kafka, ssl: { ca: stack.stranger.ca } })).toEqual(refused(/KAFKA_TLS_CA_FILE/));
    expect(await bootErrorOf({ ...stack.kafka, ssl: true })).toEqual(refused(/KAFKA_TLS_CA_FILE/));
  });

  it('is refused when the certificate is for another host', async () => {
    const brokers = stack.kafka.brokers.map((broker) => broker.replace('127.0.0.1', 'localhost'));
    expect(await bootErrorOf({ ...stack.kafka, brokers })).toEqual(refused(/KAFKA_BROKERS/));
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'is refused with a wrong password by %s',
    async (mechanism) => {
      const sasl = { ...stack.kafka.sasl, mechanism, password: 'wrong-password' };
      const error = await bootErrorOf({ ...stack.kafka, sasl });
      expect(error).toEqual(refused(/KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD/));
      expect(String(error)).not.toContain('wrong-password');
    },
  );

  it('is refused without a login', async () => {
    expect(await bootErrorOf({ ...stack.kafka, sasl: undefined })).toEqual(refused(/KAFKA_SASL_MECHANISM/));
  });

  it('is refused without a certificate where one is the login, and with that of a stranger', async () => {
    const mutual = stack.mutualTls;
    expect(await bootErrorOf({ ...mutual, ssl: { ca: stack.authority.ca } })).toEqual(refused(/KAFKA_TLS_CERT_FILE/));
    const { cert, key } = await stack.stranger.issue('client');
    const ssl = { ca: stack.authority.ca, cert, key };
    expect(await bootErrorOf({ ...mutual, ssl })).toEqual(refused(/KAFKA_TLS_CERT_FILE/));
  });

  it('is refused when one side speaks plainly', async () => {
    const plainly = { ...stack.kafka, ssl: false };
    expect(await bootErrorOf(plainly)).toEqual(refused(/KAFKA_TLS=true/));
    const { brokers } = requireTestStack();
    expect(await bootErrorOf({ ...stack.kafka, brokers })).toEqual(refused(/unset KAFKA_TLS/));
    expect(await bootErrorOf({ ...stack.kafka, brokers, ssl: false })).toEqual(refused(/KAFKA_SASL_/));
  });

  it('does not fail on unavailable brokers, which the parts handle that need them', async () => {
    expect(await bootErrorOf({ ...stack.kafka, brokers: ['127.0.0.1:1'] })).toBeUndefined();
  });
});

describe('Kafka with tokens (OAUTHBEARER)', () => {
  let endpoint: TokenEndpoint;
  beforeAll(async () => {
    endpoint = await startTokenEndpoint();
  });
  afterAll(() => endpoint.close());

  const settings = async (changed: Readonly<Record<string, string>> = {}): Promise<KafkaSettings> =>
    parseConfig(kafkaConfig('secured'), {
      KAFKA_BROKERS: stack.kafka.brokers.join(','),
      KAFKA_TLS_CA_FILE: await stack.file('authority.pem', stack.authority.ca),
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_OAUTH_TOKEN_URL: endpoint.url,
      KAFKA_OAUTH_CLIENT_ID: TOKEN_CLIENT.id,
      KAFKA_OAUTH_CLIENT_SECRET: TOKEN_CLIENT.secret,
      ...changed,
    });

  it('carries transactions, with one token for all connections', async () => {
    const before = endpoint.issued();
    expect(await roundTrip(await settings())).toEqual(['one', 'two']);
    expect(endpoint.issued()).toBe(before + 1);
  });

  it('is refused before anything starts when the endpoint does not know the client', async () => {
    const error = await bootErrorOf(await settings({ KAFKA_OAUTH_CLIENT_SECRET: 'wrong-secret' }));
    expect(error).toEqual(refused(/KAFKA_OAUTH_CLIENT_SECRET/));
    expect(String(error)).not.toContain('wrong-secret');
  });

  it('does not fail on an endpoint that is away, which the parts handle that need tokens', async () => {
    expect(await bootErrorOf(await settings({ KAFKA_OAUTH_TOKEN_URL: 'http://127.0.0.1:1/token' }))).toBeUndefined();
  });

  it('is refused when the broker does not accept the token', async () => {
    const oauthBearerProvider = () => Promise.resolve({ value: 'e30.e30.' });
    const sasl = { mechanism: 'oauthbearer', oauthBearerProvider } as const;
    expect(await bootErrorOf({ ...stack.kafka, sasl })).toEqual(refused(/KAFKA_OAUTH_/));
  });
});

describe('PostgreSQL over TLS', () => {
  const withQuery = (change: (query: URLSearchParams) => void): string => {
    const url = new URL(stack.databaseUrl);
    change(url.searchParams);
    return url.href;
  };
  /** What an application prints when it starts with this URL. */
  const refusalOf = async (url: string): Promise<string | null> => {
    const dataSource = createDataSource(url);
    try {
      await dataSource.initialize();
      await dataSource.destroy();
      return null;
    } catch (error) {
      return databaseRefusal(error);
    }
  };

  it('is migrated and asked, and every connection of ours is encrypted', async () => {
    expect((await runMigrations(stack.databaseUrl)).length).toBeGreaterThan(0);
    const store = await openManagementStore(stack.databaseUrl);
    expect(await store.fleets.create({ fleetId: 'acme', payloadFormat: 'v1', nowMs: Date.now() })).toMatchObject({
      type: 'created',
    });
    const listeners = { onAppended: () => undefined, onLost: () => undefined };
    const outbox = await openOutboxSession({ databaseUrl: stack.databaseUrl, ...listeners });
    const dataSource = await createDataSource(stack.databaseUrl).initialize();
    const rows = await dataSource.query<{ ssl: boolean; name: string }[]>(
      `SELECT ssl, application_name AS name FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0`,
    );
    expect(rows.map(({ name }) => name)).toContain('waypost-outbox');
    expect(rows.filter(({ ssl }) => !ssl)).toEqual([]);
    await dataSource.destroy();
    if (outbox.type === 'held') await outbox.session.close();
    await store.close();
  });

  it('is refused when the authority is another', async () => {
    const stranger = await stack.file('stranger.pem', stack.stranger.ca);
    expect(await refusalOf(withQuery((query) => query.set('sslrootcert', stranger)))).toMatch(/sslrootcert/);
    expect(await refusalOf(withQuery((query) => query.delete('sslrootcert')))).toMatch(/sslrootcert/);
  });

  it.each(['require', 'verify-ca'])('is verified with sslmode=%s too', async (mode) => {
    const unknown = withQuery((query) => {
      query.set('sslmode', mode);
      query.delete('sslrootcert');
    });
    expect(await refusalOf(unknown)).toMatch(/sslrootcert/);
  });

  it('is refused when the certificate is for another host', async () => {
    expect(await refusalOf(stack.databaseUrl.replace('127.0.0.1', 'localhost'))).toMatch(/another host.*DATABASE_URL/);
  });

  it('is refused with a wrong password, which is not printed', async () => {
    const url = new URL(stack.databaseUrl);
    url.password = 'wrong-password';
    const refusal = await refusalOf(url.href);
    expect(refusal).toMatch(/the user and the password in DATABASE_URL/);
    expect(refusal).not.toContain('wrong-password');
  });

  it('is refused when one side speaks plainly', async () => {
    expect(
      await refusalOf(
        withQuery((query) => {
          query.delete('sslmode');
          query.delete('sslrootcert');
        }),
      ),
    ).toMatch(/add sslmode=verify-full to DATABASE_URL/);
    const plain = `${requireTestStack().databaseUrl}?sslmode=verify-full`;
    expect(await refusalOf(plain)).toMatch(/remove sslmode from DATABASE_URL/);
  });

  it.each(['no-verify', 'prefer', 'allow'])('is never reached with sslmode=%s', (mode) => {
    expect(() => createDataSource(withQuery((query) => query.set('sslmode', mode)))).toThrow(
      /must be disable or verify-full/,
    );
  });
});
