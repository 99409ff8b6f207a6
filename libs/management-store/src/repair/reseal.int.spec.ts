import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Keys,
  openClientKey,
  openClientSecret,
  openHeaderValue,
  openSigningSecret,
  sealClientKey,
  sealClientSecret,
  sealHeaderValue,
  sealSigningSecret,
  type WebhookSubscription,
} from '@waypost/domain';
import { untilWaitingForLocks } from '../../../../test/support/lock-waits.js';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { newSubscription } from '../testing/new-subscription.js';
import { openReseal, type Reseal } from './reseal.js';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const fleetId = 'acme';
let database: TestStore;
const opened: Reseal[] = [];

beforeAll(async () => {
  database = await openTestStore();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.sql.query('TRUNCATE fleets, webhook_subscriptions, outbox CASCADE');
  await database.store.fleets.create({ fleetId, payloadFormat: 'v1', nowMs: 1_000 });
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((reseal) => reseal.close()));
});

function headerOf(subscriptionId: string) {
  return { subscriptionId, name: 'x-key' };
}

/** `count` subscriptions, each with a current secret, an old one that still signs, and a client secret, a secret header and a client key. */
async function createSealed(count: number, keys: Keys): Promise<readonly WebhookSubscription[]> {
  const drafts = Array.from({ length: count }, (_, index) => {
    const id = randomUUID();
    const seal = (byte: number) => sealSigningSecret(Buffer.alloc(32, byte), keys, randomBytes(12), id);
    const sealedClientSecret = sealClientSecret('client-secret', keys, randomBytes(12), id);
    return newSubscription({
      id,
      fleetId,
      url: `https://receiver.example/${String(index)}`,
      auth: {
        tokenUrl: 'https://id.example/token',
        clientId: 'c',
        sealedClientSecret,
        scope: null,
        audience: null,
        tokenAuthMethod: 'client_secret_basic',
      },
      headers: [
        { name: 'x-site', value: 'north', sealedValue: null },
        {
          name: 'x-key',
          value: null,
          sealedValue: sealHeaderValue('header-secret', keys, randomBytes(12), headerOf(id)),
        },
      ],
      clientCertificate: {
        certificates: 'pem',
        sealedKey: sealClientKey('client-key', keys, randomBytes(12), id),
        subject: 'CN=waypost',
        expiresAt: 9e12,
      },
      secrets: [
        { sealed: seal(1), expiresAt: null },
        { sealed: seal(2), expiresAt: 9e12 },
      ],
    });
  });
  const result = await database.store.subscriptions.create(drafts, 2_000);
  await database.sql.query('TRUNCATE outbox');
  return result.type === 'created' ? result.subscriptions : [];
}

async function reseal(): Promise<Reseal> {
  const settings = { keys: [NEW, OLD], randomBytes, now: () => 3_000 };
  const open = await openReseal(database.databaseUrl, settings);
  opened.push(open);
  return open;
}

async function stored(): Promise<readonly WebhookSubscription[]> {
  return (await database.store.subscriptions.list({ fleetId, limit: 1_000, after: null })).rows;
}

async function published(): Promise<WebhookSubscription[]> {
  const rows = await database.sql.query<{ value: WebhookSubscription }>('SELECT value FROM outbox ORDER BY id');
  return rows.rows.map(({ value }) => value);
}

function plaintexts({ id, secrets, auth, headers, clientCertificate }: WebhookSubscription, keys: Keys): unknown[] {
  const results = [
    ...secrets.map(({ sealed }) => openSigningSecret(sealed, keys, id)),
    openClientSecret(auth?.sealedClientSecret ?? '', keys, id),
    openHeaderValue(headers[1]?.sealedValue ?? '', keys, headerOf(id)),
    openClientKey(clientCertificate?.sealedKey ?? '', keys, id),
  ];
  return results.map((result) => (result.type === 'opened' ? result.plaintext : result));
}

const PLAINTEXTS = [
  Buffer.alloc(32, 1),
  Buffer.alloc(32, 2),
  Buffer.from('client-secret'),
  Buffer.from('header-secret'),
  Buffer.from('client-key'),
];

describe('resealing (R-17)', () => {
  it('seals every secret under the newest key, in the table and in the outbox, and changes nothing else', async () => {
    const before = await createSealed(2, [OLD]);
    const result = await (await reseal()).run(() => undefined);

    expect(result).toEqual({ total: 2, read: 2, resealed: 2, unreadable: [] });
    const after = await stored();
    for (const subscription of after) {
      expect(plaintexts(subscription, [NEW])).toEqual(PLAINTEXTS);
      const { secrets, auth, headers, clientCertificate, version, ...rest } =
        before.find(({ id }) => id === subscription.id) ?? subscription;
      expect(subscription).toMatchObject({ ...rest, version: version + 1 });
      expect(subscription.auth).toMatchObject({ clientId: auth?.clientId });
      const { sealedKey: _sealedKey, ...certificate } = clientCertificate ?? {};
      expect(subscription.clientCertificate).toMatchObject(certificate);
      expect(subscription.headers).toEqual([headers[0], { ...headers[1], sealedValue: expect.any(String) as unknown }]);
      expect(subscription.secrets.map(({ expiresAt }) => expiresAt)).toEqual(secrets.map(({ expiresAt }) => expiresAt));
    }
    const byId = (a: WebhookSubscription, b: WebhookSubscription) => (a.id < b.id ? -1 : 1);
    expect(await published()).toEqual([...after].sort(byId));
  });

  it('leaves alone what the newest key has sealed already', async () => {
    const before = await createSealed(2, [NEW]);
    expect(await (await reseal()).run(() => undefined)).toMatchObject({ read: 2, resealed: 0 });
    expect(await published()).toEqual([]);
    expect((await stored()).map(({ version }) => version)).toEqual(before.map(({ version }) => version));
  });

  it('continues where it was interrupted', async () => {
    await createSealed(201, [OLD]);
    const interrupted = (await reseal()).run(() => {
      throw new Error('interrupted');
    });
    await expect(interrupted).rejects.toThrow('interrupted');
    expect(await published()).toHaveLength(200);
    expect(await (await reseal()).run(() => undefined)).toMatchObject({ read: 201, resealed: 1 });
    expect(await published()).toHaveLength(201);
    for (const subscription of await stored()) expect(plaintexts(subscription, [NEW])).toEqual(PLAINTEXTS);
  });

  it('keeps what its owner changes meanwhile', async () => {
    const [changing] = await createSealed(1, [OLD]);
    const open = await reseal();
    await database.sql.query('BEGIN');
    await database.sql.query('UPDATE webhook_subscriptions SET version = 2 WHERE id = $1', [changing?.id]);
    const resealed = open.run(() => undefined);
    await untilWaitingForLocks(database.sql, 1);
    await database.sql.query('COMMIT');
    expect(await resealed).toMatchObject({ resealed: 1 });
    expect((await stored()).map(({ version }) => version)).toEqual([3]);
    expect((await published()).map(({ version }) => version)).toEqual([3]);
  });

  it('keeps and reports a secret that no key opens', async () => {
    const [lost] = await createSealed(1, [randomBytes(32)]);
    await database.sql.query("UPDATE webhook_subscriptions SET version = 7 WHERE url LIKE '%/0'");
    const result = await (await reseal()).run(() => undefined);
    expect(result).toEqual({ total: 1, read: 1, resealed: 0, unreadable: [lost?.id] });
    expect(await stored()).toEqual([{ ...lost, version: 7 }]);
  });

  it('counts the changes that are not published yet', async () => {
    await createSealed(3, [OLD]);
    const open = await reseal();
    await open.run(() => undefined);
    expect(await open.unpublished()).toBe(3);
    await database.sql.query('UPDATE outbox SET published_at = now()');
    expect(await open.unpublished()).toBe(0);
  });
});
