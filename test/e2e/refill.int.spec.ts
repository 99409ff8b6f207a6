import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAvroCodecs, createSchemaRegistry, resolveBatch, setUpKafka, topics } from '@waypost/contracts';
import { runMigrations } from '@waypost/database';
import type { OperationalEvent, ReplayProgress } from '@waypost/domain';
import { API_KEY_SCOPES, type ManagementStore, openManagementStore } from '@waypost/management-store';
import { createKafkaBackend, openTopicAdmin, partitionForKey, silentLogger } from '@waypost/streams';
import { readToEnd } from '@waypost/streams/admin';
import { refill } from '../../apps/cli/src/commands/refill.js';
import { createOutbox } from '../../apps/public-api/src/outbox/create-outbox.js';
import type { OutboxPublisher } from '../../apps/public-api/src/outbox/outbox-publisher.js';
import { queryOnce } from '../support/query-once.js';
import { requireTestStack } from '../support/test-stack.js';
import { until } from '../support/until.js';

const PARTITIONS = 4;
const NOW = Date.now();
const brokers = requireTestStack().brokers.join(',');
const { registryUrl } = requireTestStack();
const server = requireTestStack().databaseUrl;
const kafka = { brokers: brokers.split(','), clientId: 'refill-test' };
const databaseName = `test_${randomBytes(6).toString('hex')}`;
/** Owns the database and is no superuser, as docs/operations.md wants it: row-level security holds for it. */
const owner = `owner_${databaseName}`;
const databaseUrl = Object.assign(new URL(server), {
  pathname: `/${databaseName}`,
  username: owner,
  password: owner,
}).href;
const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const [, backupOptions = '', backupFlags = ''] = /^PGOPTIONS='(.*?)' pg_dump (.*)$/m.exec(operations) ?? [];
const [, restoreOptions = '', restoreFlags = ''] = /^PGOPTIONS='(.*?)' pg_restore (.*)$/m.exec(operations) ?? [];

const registry = createSchemaRegistry({ url: registryUrl });
const codecs = createAvroCodecs({ registry });
const backend = createKafkaBackend({ kafka, logger: silentLogger, now: Date.now });
const fleetId = `refill-${randomBytes(4).toString('hex')}`;

let dataDir: string;
let publisher: OutboxPublisher | null = null;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'waypost-refill-'));
  const stack = { brokers, registryUrl, databaseUrl, apiUrl: 'http://unused' };
  await writeFile(join(dataDir, 'stack.json'), JSON.stringify(stack));
  const admin = await openTopicAdmin(kafka);
  await setUpKafka({ admin, registryUrl, partitions: PARTITIONS, replicationFactor: 1 });
  await admin.close();
  await onServer(`CREATE ROLE ${owner} LOGIN PASSWORD '${owner}'`);
  await onServer(`CREATE DATABASE ${databaseName} OWNER ${owner}`);
  await runMigrations(databaseUrl);
});
afterAll(async () => {
  await publisher?.stop();
  await backend.close();
  await onServer(`DROP DATABASE ${databaseName} WITH (FORCE)`);
  await onServer(`DROP ROLE ${owner}`);
  await rm(dataDir, { recursive: true });
});

/** As PGOPTIONS does it for the programs of PostgreSQL. */
function withOptions(options: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', options);
  return url.href;
}
function onServer(sql: string): Promise<unknown[]> {
  return queryOnce(server, sql);
}

function startPublisher(): OutboxPublisher {
  const outbox = createOutbox({
    databaseUrl,
    codecs,
    backend,
    logger: silentLogger,
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
  });
  outbox.start();
  return outbox;
}

function untilPublished(): Promise<void> {
  return until(async () => {
    expect(await queryOnce(databaseUrl, 'SELECT id FROM outbox WHERE published_at IS NULL')).toEqual([]);
  });
}

/** What the lost database must have held of our fleet, as JSON of every column. */
async function tables(): Promise<Record<string, unknown[]>> {
  const of = async (name: string, where: string): Promise<unknown[]> => {
    // What a fleet has written today is counted anew.
    const sql = `SELECT to_jsonb(t) - '{written_day,written_positions}'::text[] AS row FROM ${name} AS t WHERE ${where} ORDER BY to_jsonb(t)::text`;
    return (await queryOnce<{ row: unknown }>(withOptions('-c waypost.fleet=*'), sql, [fleetId])).map(({ row }) => row);
  };
  const subscriptions = 'subscription_id IN (SELECT id FROM webhook_subscriptions WHERE fleet_id = $1)';
  return {
    fleets: await of('fleets', 'fleet_id = $1'),
    geofences: await of('geofences', 'fleet_id = $1'),
    subscriptions: await of('webhook_subscriptions', 'fleet_id = $1'),
    replays: await of('webhook_replays', subscriptions),
    series: await of('webhook_replay_series', subscriptions),
    operationalEvents: await of('subscription_operations', 'fleet_id = $1'),
  };
}

const ADDED_PORTAL = `
  INSERT INTO fleet_portals (fleet_id, portal_id, frame_ancestors, color_scheme, version, created_at, updated_at)
  VALUES ($1, $2, '{https://portal.example}', 'auto', 1, now(), now())`;

/** Tables of which nothing is in a topic, but that are worth keeping: what a backup has to have. */
const BACKED_UP = ['api_keys', 'fleet_portals'] as const;
/** Filled again by the projectors, or by the next command. */
const REBUILT = [
  ...['deliveries', 'delivery_figures', 'delivery_progress', 'path_points', 'projection_positions', 'projected_topics'],
];
const FORGOTTEN = ['idempotency_keys', 'outbox', 'portal_sessions', 'waiting_deliveries', 'migrations'];
const REFILLED = [
  ...['fleets', 'geofences', 'webhook_subscriptions', 'webhook_replays', 'webhook_replay_series'],
  'subscription_operations',
];

async function rowsOf(table: string): Promise<unknown[]> {
  const sql = `SELECT to_jsonb(t) AS row FROM ${table} AS t ORDER BY to_jsonb(t)::text`;
  return (await queryOnce<{ row: unknown }>(withOptions(backupOptions), sql)).map(({ row }) => row);
}

function draft(eventType: string, url = 'https://receiver.example/hook') {
  return {
    id: randomUUID(),
    fleetId,
    eventType,
    url,
    payloadFormat: 'v1',
    deviceIds: ['van-1'],
    auth: {
      tokenUrl: 'https://id.example/token',
      clientId: 'c',
      sealedClientSecret: 'sealed-client',
      scope: null,
      audience: null,
      tokenAuthMethod: 'client_secret_basic',
    },
    rateLimitPerSecond: 7,
    onOutage: 'hold',
    strictOrder: true,
    headers: [
      { name: 'x-site', value: 'north', sealedValue: null },
      { name: 'x-api-key', value: null, sealedValue: 'sealed-key' },
    ],
    clientCertificate: { certificates: 'pem', sealedKey: 'sealed-client-key', subject: 'CN=yard', expiresAt: NOW },
    description: 'of the depot',
    metadata: { team: 'yard' },
    secrets: [{ sealed: `sealed-${eventType}`, expiresAt: null }],
  };
}

/** A fleet with something of each kind, some of it changed, deleted or disabled. */
async function manage(store: ManagementStore) {
  await store.fleets.create({ fleetId, payloadFormat: 'legacy-v1', nowMs: NOW });
  await store.fleets.update(fleetId, { name: 'Vans', routes: true }, NOW + 1);
  await store.apiKeys.create({ fleetId, scopes: API_KEY_SCOPES, nowMs: NOW });
  const circle = { latitude: 52.1, longitude: 4.9, radiusInMeters: 300 };
  const depot = { geofenceId: randomUUID(), fleetId, name: 'Depot', circle, polygon: null };
  const gone = { ...depot, geofenceId: randomUUID() };
  await store.geofences.create(depot, NOW);
  await store.geofences.create(gone, NOW);
  await store.geofences.update(depot, { name: 'Yard' }, NOW + 1);
  await store.geofences.delete(gone, NOW + 1);

  const [changed, rotated, deleted] = [draft('position'), draft('position_sleep'), draft('ignition_on')];
  await store.subscriptions.create([changed, rotated, deleted], NOW);
  await store.subscriptions.update(
    changed,
    () => ({ status: 'paused', url: 'https://receiver.example/moved' }),
    NOW + 1,
  );
  await store.subscriptions.rotateSecret(rotated, {
    sealFor: () => 'sealed-2',
    oldSignsUntil: NOW + 9e6,
    nowMs: NOW + 2,
  });
  await store.subscriptions.delete(deleted, NOW + 3);
  await store.subscriptions.update(changed, () => ({ status: 'active' }), NOW + 4);
  const replay = {
    replayId: randomUUID(),
    startDate: NOW - 9_000,
    endDate: NOW,
    status: 'failed',
    statusCode: 503,
    eventType: null,
    deviceId: 'van-1',
    eventId: randomUUID(),
    ratePerSecond: 50,
  };
  await store.replays.create(changed, replay, NOW + 5);
  const cancelled = { ...replay, replayId: randomUUID() };
  await store.replays.create(changed, cancelled, NOW + 6);
  await store.replays.cancel(changed, cancelled.replayId, NOW + 7);
  return { changed, rotated, replay };
}

/** What other applications tell by their topics, and public-api has copied. */
async function tell(
  store: ManagementStore,
  { changed, rotated, replay }: Awaited<ReturnType<typeof manage>>,
): Promise<void> {
  const progress: ReplayProgress = {
    replayId: replay.replayId,
    subscriptionId: changed.id,
    state: 'completed',
    attemptsEnd: 3,
    nextDeliveryOffset: 9,
    matched: 4,
    sent: 4,
    startedAt: NOW + 10,
    updatedAt: NOW + 20,
  };
  const event: OperationalEvent = {
    id: randomUUID(),
    subscriptionId: changed.id,
    fleetId,
    type: 'exhausted',
    occurredAt: NOW + 30,
    reason: 'five attempts',
    eventId: randomUUID(),
    deliveryOffset: 12,
    statusCode: 503,
    errorCode: null,
  };
  /** Of a replay that has been forgotten since. */
  const delivery = {
    eventId: randomUUID(),
    subscriptionId: rotated.id,
    fleetId,
    deviceId: 'van-1',
    eventType: 'position_sleep',
    eventTime: NOW,
    format: 'v1',
    series: 7,
    replayId: randomUUID(),
    createdAt: NOW,
    body: '{}',
  };
  await store.replays.recordProgress([progress]);
  await store.operationalEvents.keep([event]);
  await queryOnce(databaseUrl, 'INSERT INTO webhook_replay_series VALUES ($1, 7)', [rotated.id]);

  await Promise.all(
    [codecs.replayProgress, codecs.webhookOperations, codecs.webhookDeliveries].map((c) => c.prepare()),
  );
  const key = Buffer.from(changed.id);
  const partition = partitionForKey(key, PARTITIONS);
  const producer = backend.producer(`refill-test.${fleetId}`);
  await producer.init();
  await producer.commit({
    records: [
      {
        topic: topics.replayProgress.name,
        partition,
        key: Buffer.from(replay.replayId),
        value: codecs.replayProgress.encode(progress),
      },
      ...[
        codecs.webhookOperations.encode(event),
        Buffer.from('no Avro'),
        codecs.webhookOperations.encode({ ...event, id: 'no UUID' }),
      ].map((value) => ({ topic: topics.webhookOperations.name, partition, key, value })),
      { topic: topics.webhookDeliveries.name, partition, key, value: codecs.webhookDeliveries.encode(delivery) },
    ],
  });
  await producer.close();
}

/** Every version of our fleet's subscriptions and settings in the topics, in their order; null: a tombstone. */
async function publishedVersions(subscriptionIds: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const fetcher = backend.fetcher();
  for (const [topic, codec, keys] of [
    [topics.fleetSettings.name, codecs.fleetSettings, [fleetId]],
    [topics.webhookSubscriptions.name, codecs.webhookSubscriptions, subscriptionIds],
  ] as const) {
    await readToEnd(backend, fetcher, { topic, partition: 0 }, 0, async ({ records }) => {
      const ours = records.filter(({ key }) => keys.includes(key?.toString() ?? ''));
      await resolveBatch(codec, ours);
      for (const { key, value } of ours) {
        const decoded = value === null ? null : codec.decode(value);
        const version = decoded?.type === 'decoded' ? String(decoded.value.version) : 'none';
        found.push(`${topic} ${String(key)} ${version}`);
      }
    });
  }
  await fetcher.close();
  return found;
}

function terminal() {
  const said: string[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      said.push(chunk.toString());
      done();
    },
  });
  return { said, out: stream, err: stream };
}

describe('refilling a lost database (R-17)', () => {
  it('restores managed resources with ids, versions and secrets, and continues with the next version', async () => {
    let store = await openManagementStore(databaseUrl);
    publisher = startPublisher();
    const managed = await manage(store);
    await untilPublished();
    await tell(store, managed);
    await publisher.stop();
    await store.close();
    const before = await tables();
    const ids = [managed.changed.id, managed.rotated.id];
    const versions = await publishedVersions(ids);
    await queryOnce(withOptions('-c waypost.fleet=*'), ADDED_PORTAL, [fleetId, randomUUID()]);
    const backup = await Promise.all(BACKED_UP.map(rowsOf));
    expect(backup.map((rows) => rows.length)).toEqual([1, 1]);

    await onServer(`DROP DATABASE ${databaseName} WITH (FORCE)`);
    await onServer(`CREATE DATABASE ${databaseName} OWNER ${owner}`);
    await runMigrations(databaseUrl);
    await queryOnce(databaseUrl, 'ALTER TABLE subscription_operations ADD CONSTRAINT interrupted CHECK (false)');
    await expect(refill(terminal(), { dataDir })).rejects.toThrow('interrupted');
    await queryOnce(databaseUrl, 'ALTER TABLE subscription_operations DROP CONSTRAINT interrupted');
    const printed = terminal();
    await expect(refill(printed, { dataDir })).rejects.toMatchObject({
      message: expect.stringContaining('except 1 operational event'),
      exitCode: 1,
    });

    expect(await tables()).toEqual(before);
    expect(Object.entries(before).map(([name, rows]) => [name, rows.length])).toEqual([
      ...[
        ['fleets', 1],
        ['geofences', 1],
        ['subscriptions', 2],
        ['replays', 2],
        ['series', 2],
        ['operationalEvents', 1],
      ],
    ]);
    for (const table of BACKED_UP) expect(printed.said.join('')).toContain(`the table ${table}`);
    expect(printed.said.join('')).toMatch(/^left out: webhook\.operations, partition \d, offset \d+: malformed/m);
    expect(printed.said.join('')).toMatch(/^left out: webhook\.operations, .*: an id is not a UUID/m);
    await expect(refill(terminal(), { dataDir })).rejects.toThrow('The database is in use: fleets');

    // As pg_restore does it with a dump of --inserts.
    for (const [index, table] of BACKED_UP.entries()) {
      const sql = `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1)`;
      await queryOnce(withOptions(restoreOptions), sql, [JSON.stringify(backup[index])]);
    }
    expect(await Promise.all(BACKED_UP.map(rowsOf))).toEqual(backup);

    store = await openManagementStore(databaseUrl);
    publisher = startPublisher();
    const resumed = await store.subscriptions.update(managed.changed, () => ({ rateLimitPerSecond: 8 }), NOW + 50);
    expect(resumed).toMatchObject({ type: 'changed', subscription: { version: 4 } });
    await untilPublished();
    await store.close();
    expect(versions.filter((one) => one.includes(managed.changed.id))).toHaveLength(3);
    expect(await publishedVersions(ids)).toEqual([
      ...versions,
      `${topics.webhookSubscriptions.name} ${ids[0] ?? ''} 4`,
    ]);
  });

  it('has commands for the backup that do not give up before row-level security, and name every table', () => {
    expect(backupFlags).toContain('--enable-row-security --inserts');
    for (const table of BACKED_UP) expect(backupFlags).toContain(`--table=${table}`);
    expect(restoreFlags).toContain('--enable-row-security');
  });

  it('leaves no table of which nobody knows what becomes of it', async () => {
    const found = await queryOnce<{ name: string }>(
      databaseUrl,
      `SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
          AND NOT relispartition ORDER BY relname`,
    );
    const known = [...BACKED_UP, ...REBUILT, ...FORGOTTEN, ...REFILLED].sort();
    expect(found.map(({ name }) => name)).toEqual(known);
  });
});
