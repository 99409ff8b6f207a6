import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { openClientKey } from '@waypost/domain';
import { makeAuthority } from '../../../../test/support/certificates.js';
import { useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/webhook-subscriptions';

interface Resource {
  readonly id: string;
  readonly clientCertificate?: { readonly subject: string; readonly expiresAt: string };
}

const sealingKeys = [randomBytes(32)];
const suite = useTestFleet({ sealingKeys });
const { send } = suite;

// openssl issues certificates that are valid from now on.
beforeEach(() => {
  suite.nowMs = Date.now();
});

const authority = makeAuthority();
const [old, renewed] = ['old', 'new'].map((commonName) => {
  const { cert, key } = authority.issue({ subjectAltName: 'DNS:waypost.example', commonName });
  return { certificates: cert, privateKey: key };
});

async function create(fields: object): Promise<Resource[]> {
  const body = { eventType: 'position', url: 'https://receiver.example/hook', ...fields };
  const answer = await send('POST', PATH, body);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return (answer.body as { data: Resource[] }).data;
}

async function createOne(): Promise<string> {
  const [made] = await create({ clientCertificate: old });
  return made?.id ?? '';
}

async function shown(id: string) {
  return ((await send('GET', `${PATH}/${id}`)).body as Resource).clientCertificate;
}

async function storedKey(id: string): Promise<string | null> {
  const found = await suite.store.subscriptions.get({ fleetId: suite.fleetId, id });
  if (found === null || found.clientCertificate === null) return null;
  const opened = openClientKey(found.clientCertificate.sealedKey, sealingKeys, id);
  return opened.type === 'opened' ? opened.plaintext.toString() : opened.reason;
}

describe('the client certificate of a subscription (R-16, R-19)', () => {
  const certificate = { subject: 'CN=old', expiresAt: expect.stringMatching(/^\d{4}-.*Z$/) as unknown };

  it('is shown by its subject and expiry, never with its key, in every answer', async () => {
    const [made] = await create({ clientCertificate: old });
    const id = made?.id ?? '';
    expect(made?.clientCertificate).toEqual(certificate);
    expect(await shown(id)).toEqual(certificate);
    expect((await send('GET', PATH)).body).toMatchObject({ data: [{ clientCertificate: certificate }] });
    const changed = await send('PATCH', `${PATH}/${id}`, { description: 'x' });
    expect(changed.body).toMatchObject({ clientCertificate: certificate });
    expect(JSON.stringify(changed.body)).not.toContain('PRIVATE KEY');
  });

  it('is stored and published with its key only sealed (R-17)', async () => {
    const id = await createOne();
    expect(await storedKey(id)).toBe(old?.privateKey);
    const { rows } = await suite.sql.query<{ row: string }>(
      `SELECT to_jsonb(s)::text AS row FROM webhook_subscriptions AS s WHERE id = $1
       UNION ALL SELECT value::text FROM outbox WHERE key = $1::text`,
      [id],
    );
    expect(rows).toHaveLength(2);
    for (const { row } of rows) {
      expect(row).toContain('BEGIN CERTIFICATE');
      expect(row).not.toContain('PRIVATE KEY');
    }
  });

  it('is replaced as a whole, and can be taken away', async () => {
    const id = await createOne();
    await send('PATCH', `${PATH}/${id}`, { clientCertificate: renewed });
    expect(await shown(id)).toMatchObject({ subject: 'CN=new' });
    expect(await storedKey(id)).toBe(renewed?.privateKey);
    await send('PATCH', `${PATH}/${id}`, { clientCertificate: null });
    expect(await shown(id)).toBeUndefined();
    expect(await storedKey(id)).toBeNull();
  });

  it('is of each subscription that one POST makes, and of each that ?scope=url changes', async () => {
    const url = 'https://receiver.example/both';
    const made = await create({
      eventType: undefined,
      eventTypes: ['ignition_on', 'ignition_off'],
      url,
      clientCertificate: old,
    });
    for (const { id } of made) expect(await storedKey(id)).toBe(old?.privateKey);
    await send('PATCH', `${PATH}/${String(made[0]?.id)}?scope=url`, { clientCertificate: renewed });
    for (const { id } of made) expect(await storedKey(id)).toBe(renewed?.privateKey);
  });

  it('is refused, and changes nothing, when the key is of another one; the answer says which part', async () => {
    const id = await createOne();
    const wrong = { certificates: old?.certificates, privateKey: renewed?.privateKey };
    const answer = await send('PATCH', `${PATH}/${id}`, { clientCertificate: wrong });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { code: 'invalid_body', details: [{ field: 'clientCertificate.privateKey' }] },
    });
    expect(JSON.stringify(answer.body)).not.toContain('BEGIN');
    expect(await storedKey(id)).toBe(old?.privateKey);
  });

  it('is refused on creation when it has expired', async () => {
    const { cert, key } = authority.issue({ subjectAltName: 'DNS:waypost.example', validDays: -1 });
    const clientCertificate = { certificates: cert, privateKey: key };
    const body = { eventType: 'position', url: 'https://receiver.example/late', clientCertificate };
    const answer = await send('POST', PATH, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { details: [{ field: 'clientCertificate.certificates' }] } });
  });
});
