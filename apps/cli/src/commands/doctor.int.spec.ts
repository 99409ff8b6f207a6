import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { allTopics, type KafkaUser, setUpKafka, topics } from '@waypost/contracts';
import { openTopicAdmin } from '@waypost/streams';
import { createTestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { until } from '../../../../test/support/until.js';
import { type DatabaseLogin, databaseLogins } from '../doctor/database-checks.js';
import { examineDatabases } from '../doctor/examine-database.js';
import { examineKafka } from '../doctor/examine-kafka.js';
import { examineRegistry } from '../doctor/examine-registry.js';
import type { Finding } from '../doctor/finding.js';
import { tryCluster } from '../doctor/try-cluster.js';
import { doctor } from './doctor.js';

const { brokers, registryUrl, databaseUrl } = requireTestStack();
const kafka = { brokers, clientId: 'doctor-test' };
const wishes = { partitions: 4, replicationFactor: 1 };
const TRIED: Finding[] = [
  { level: 'ok', about: 'kafka', what: 'a transaction to all brokers was committed', fix: null },
];
const ONE_LOGIN = {
  variable: 'DATABASE_URL',
  url: databaseUrl,
  makesTables: true,
  writes: true,
  purposes: ['waypost_api', 'waypost_projector'],
} as const satisfies DatabaseLogin;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waypost-doctor-'));
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, ...wishes });
  await admin.close();
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => {
  jest.restoreAllMocks();
  // The next file of this thread has the same environment.
  delete process.env['KAFKA_BROKERS'];
  delete process.env['SCHEMA_REGISTRY_URL'];
});

interface MetadataBroker {
  metadata(topics?: readonly string[]): Promise<unknown>;
}
const Broker = createRequire(import.meta.url)('kafkajs/src/broker') as { readonly prototype: MetadataBroker };

/** Busy brokers answer questions about a new topic before they have heard of it. */
function hearLateOfTopics(answers: number): void {
  const metadata = Reflect.get(Broker.prototype, 'metadata');
  let left = answers;
  jest.spyOn(Broker.prototype, 'metadata').mockImplementation(function (this: MetadataBroker, topics = []) {
    const isNew = topics.some((topic) => topic.startsWith('waypost-doctor-'));
    if (!isNew || left-- <= 0) return metadata.call(this, topics);
    const error = new Error('This server does not host this topic-partition');
    return Promise.reject(Object.assign(error, { type: 'UNKNOWN_TOPIC_OR_PARTITION', retriable: true }));
  });
}

async function topicsLeft(): Promise<string[]> {
  const admin = await openTopicAdmin(kafka);
  const names = await admin.listTopics();
  await admin.close();
  return names.filter((topic) => topic.startsWith('waypost-doctor-'));
}

function problems(findings: readonly Finding[]): Finding[] {
  return findings.filter(({ level }) => level === 'problem');
}

describe('The doctor', () => {
  it('finds nothing to fix in a stack that works', async () => {
    const findings = [
      ...(await examineKafka(kafka, wishes)),
      ...(await examineRegistry({ url: registryUrl }, Date.now)),
      ...(await examineDatabases([ONE_LOGIN], Date.now)),
    ];
    expect(problems(findings)).toEqual([]);
    const what = findings.map((finding) => finding.what);
    expect(what).toContain(`${String(allTopics.length)} of ${String(allTopics.length)} topics exist, 0 to be created`);
    expect(what).toContain('transaction.state.log.replication.factor=1');
  });

  it('finds more replicas wanted than there are brokers', async () => {
    const [found] = problems(await examineKafka(kafka, { ...wishes, replicationFactor: 3 }));
    expect(found?.fix).toContain('WAYPOST_REPLICATION_FACTOR');
  });

  it('finds topics with other partitions than wanted', async () => {
    const found = problems(await examineKafka(kafka, { ...wishes, partitions: 5 }));
    expect(found.map(({ what }) => what)).toContain('telemetry.pings has 4 partitions where 5 are expected');
  });

  it('says which variable to look at when nothing answers', async () => {
    expect(problems(await examineKafka({ ...kafka, brokers: ['127.0.0.1:1'] }, wishes))[0]?.fix).toContain(
      'KAFKA_BROKERS',
    );
    const registry = problems(await examineRegistry({ url: 'http://127.0.0.1:1' }, Date.now));
    expect(registry[0]?.fix).toContain('SCHEMA_REGISTRY_URL');
    const away = { ...ONE_LOGIN, url: 'postgres://a:secret@127.0.0.1:1/b' };
    const database = problems(await examineDatabases([away], Date.now));
    expect(database[0]?.fix).toContain('DATABASE_URL');
    expect(JSON.stringify(database)).not.toContain('secret');
  });

  it('finds a clock that differs', async () => {
    const findings = await examineDatabases([ONE_LOGIN], () => Date.now() - 60_000);
    expect(findings).toContainEqual(
      expect.objectContaining({ level: 'warning', fix: expect.stringContaining('clocks') }),
    );
  });

  it('tries a transaction, and leaves no topic', async () => {
    expect(await tryCluster(kafka, { replicationFactor: 1, now: Date.now })).toEqual(TRIED);
    await until(async () => expect(await topicsLeft()).toEqual([]));
  });

  it('does the same with brokers that are slow to hear of its topic', async () => {
    hearLateOfTopics(3);
    expect(await tryCluster(kafka, { replicationFactor: 1, now: Date.now })).toEqual(TRIED);
    await until(async () => expect(await topicsLeft()).toEqual([]));
  });

  it.each([
    [60_000, '-60 s'],
    [-60_000, '60 s'],
  ])('finds a broker whose clock differs: from a clock that is %s ms ahead, by %s', async (aheadMs, skew) => {
    const findings = await tryCluster(kafka, { replicationFactor: 1, now: () => Date.now() + aheadMs });
    expect(findings.filter(({ level }) => level === 'warning')).toEqual([
      expect.objectContaining({ what: expect.stringMatching(`clock of broker \\d+ differs by ${skew}$`) }),
    ]);
  });

  it('says why nothing can be tried: which brokers do not respond, and what to do', async () => {
    const [found] = problems(
      await tryCluster({ ...kafka, brokers: ['127.0.0.1:1'] }, { replicationFactor: 1, now: Date.now }),
    );
    expect(found?.fix).toMatch(/^Connecting to 127\.0\.0\.1:1: no broker responds \(.*\)\. Look after the brokers/);
  });

  it('wants the right to make tables of the login that makes them, and of no other', async () => {
    const database = await createTestDatabase(databaseUrl);
    const examine = async (user?: KafkaUser, schemaUrl?: string) => {
      const logins = databaseLogins({ url: database.apiUrl, schemaUrl, readUrl: undefined }, user);
      return problems(await examineDatabases(logins, Date.now)).map(({ what }) => what);
    };
    const ofUrl = 'the login of DATABASE_URL may not create tables';
    expect(await examine()).toContain(ofUrl);
    expect(await examine('set-up')).toEqual([ofUrl]);
    expect(await examine('public-api')).toEqual([]);
    expect(await examine('history-projector', database.url)).not.toContain(ofUrl);
    expect(await examine('history-projector', database.projectorUrl)).toContain(
      'the login of DATABASE_SCHEMA_URL may not create tables',
    );
    await database.drop();
  });

  it('names the rights on tables that a login lacks, since it has the role of another application', async () => {
    const database = await createTestDatabase(databaseUrl);
    const examine = async (url: string, user: KafkaUser) => {
      const logins = databaseLogins({ url, schemaUrl: database.url, readUrl: undefined }, user);
      return problems(await examineDatabases(logins, Date.now));
    };
    expect(await examine(database.apiUrl, 'public-api')).toEqual([]);
    expect(await examine(database.projectorUrl, 'history-projector')).toEqual([]);
    expect(await examine(database.projectorUrl, 'public-api')).toMatchObject([
      {
        what: expect.stringContaining('the login of DATABASE_URL has no DELETE on api_keys'),
        fix: expect.stringContaining('GRANT waypost_api'),
      },
    ]);
    expect(await examine(database.apiUrl, 'history-projector')).toMatchObject([
      {
        what: expect.stringContaining('the login of DATABASE_URL has no '),
        fix: expect.stringContaining('GRANT waypost_projector'),
      },
    ]);
    await database.drop();
  });

  it('registers nothing when it asks whether a login may', async () => {
    const versions = async (): Promise<unknown> =>
      (await fetch(`${registryUrl}/subjects/${topics.telemetryPings.subject}/versions`)).json();
    const before = await versions();
    expect(problems(await examineRegistry({ url: registryUrl }, Date.now))).toEqual([]);
    expect(await versions()).toEqual(before);
  });

  it('says which right a login lacks that may not connect', async () => {
    const database = await createTestDatabase(databaseUrl);
    const sql = new pg.Client({ connectionString: databaseUrl });
    await sql.connect();
    await sql.query(`REVOKE CONNECT ON DATABASE ${new URL(database.url).pathname.slice(1)} FROM PUBLIC`);
    await sql.end();
    expect(await examineDatabases([{ ...ONE_LOGIN, url: database.apiUrl }], Date.now)).toMatchObject([
      { level: 'problem', what: 'DATABASE_URL cannot be used', fix: expect.stringContaining('grant it CONNECT') },
    ]);
    await database.drop();
  });

  it('asks an application for no database that it does not have', async () => {
    process.env['KAFKA_BROKERS'] = brokers.join(',');
    process.env['SCHEMA_REGISTRY_URL'] = registryUrl;
    const out = new PassThrough();
    const terminal = { out, err: new PassThrough() };
    await doctor(terminal, { dataDir: folder, user: 'telemetry-processor', now: Date.now });
    expect(String(out.read())).not.toContain('database');
    await expect(doctor(terminal, { dataDir: folder, now: Date.now })).rejects.toThrow('DATABASE_URL');
  });

  it('finds tables that a newer version has changed', async () => {
    const database = await createTestDatabase(databaseUrl);
    const sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    await sql.query("INSERT INTO migrations (timestamp, name) VALUES (1, 'LaterVersion1')");
    await sql.end();
    for (const url of [database.url, database.apiUrl]) {
      expect(
        problems(await examineDatabases([{ ...ONE_LOGIN, makesTables: false, purposes: [], url }], Date.now)),
      ).toMatchObject([{ what: 'a newer version has changed its tables: LaterVersion1' }]);
    }
    await database.drop();
  });

  it('finds a database that is read-only', async () => {
    const url = new URL(databaseUrl);
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    expect(problems(await examineDatabases([{ ...ONE_LOGIN, url: url.href }], Date.now))[0]?.what).toBe(
      'it is read-only',
    );
  });
});
