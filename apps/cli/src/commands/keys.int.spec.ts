import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyIdOf, sealSigningSecret } from '@waypost/domain';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { resealSecrets } from './keys.js';

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
let database: TestStore;
let dataDir: string;

beforeAll(async () => {
  database = await openTestStore();
  dataDir = await mkdtemp(join(tmpdir(), 'waypost-keys-'));
  const stack = { brokers: '', registryUrl: '', databaseUrl: database.databaseUrl, apiUrl: '' };
  await writeFile(join(dataDir, 'stack.json'), JSON.stringify(stack));
  const sealingKey = [NEW, OLD].map((key) => key.toString('base64')).join(',');
  await writeFile(join(dataDir, 'keys.json'), JSON.stringify({ sealingKey }));
  await database.store.fleets.create({ fleetId: 'acme', payloadFormat: 'v1', nowMs: 1 });
});
afterAll(async () => {
  await database.close();
  await rm(dataDir, { recursive: true });
});

async function createSealedWith(key: Buffer, url: string): Promise<string> {
  const id = randomUUID();
  const sealed = sealSigningSecret(Buffer.alloc(32, 1), [key], randomBytes(12), id);
  const draft = {
    id,
    fleetId: 'acme',
    eventType: 'position',
    url,
    payloadFormat: 'v1',
    deviceIds: null,
    auth: null,
    rateLimitPerSecond: null,
    onOutage: 'fail',
    strictOrder: false,
    description: null,
    metadata: {},
    headers: [],
    clientCertificate: null,
    secrets: [{ sealed, expiresAt: null }],
  };
  await database.store.subscriptions.create([draft], 1);
  return id;
}

async function run(): Promise<string> {
  let printed = '';
  const out = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      printed += chunk.toString();
      done();
    },
  });
  await resealSecrets({ out, err: out }, { dataDir, now: Date.now, patienceMs: 500 });
  return printed;
}

function publishAll(): Promise<unknown> {
  return database.sql.query('UPDATE outbox SET published_at = now()');
}

describe('keys reseal', () => {
  it('is done when all of it is published, and can be repeated', async () => {
    await createSealedWith(OLD, 'https://a.example/');
    await publishAll();
    await expect(run()).rejects.toThrow(/1 changes are waiting in the outbox: is public-api running/);
    await publishAll();
    expect(await run()).toBe(`resealed 0 of 1 subscriptions under key ${keyIdOf(NEW)}, all published\n`);
  });

  it('fails, naming the subscriptions, when a secret opens with no key, after resealing the others', async () => {
    const lost = await createSealedWith(randomBytes(32), 'https://b.example/');
    await createSealedWith(OLD, 'https://c.example/');
    const publisher = setInterval(() => void publishAll(), 50);
    await expect(run()).rejects.toThrow(new RegExp(`1 subscriptions have a secret .*: ${lost}\\.`));
    await expect(run()).rejects.toThrow(lost);
    clearInterval(publisher);
    const { rows } = await database.sql.query(
      "SELECT version FROM webhook_subscriptions WHERE url = 'https://c.example/'",
    );
    expect(rows).toEqual([{ version: 2 }]);
  });
});
