import { describe, expect, it } from '@jest/globals';
import { openClientSecret, openSigningSecret } from '@waypost/domain';
import { signingKey } from '../../../../test/support/signing-key.js';
import { BEARER, dataOf, HOOK, PATH, useTestSubscriptions } from '../testing/test-subscriptions.js';

const { suite, send, sealingKeys, stored, signingSecrets, create } = useTestSubscriptions();

describe('POST /public/v1/webhook-subscriptions (R-16)', () => {
  it('makes one subscription per event type, with one secret for all, shown once', async () => {
    const answer = await send('POST', PATH, { eventTypes: ['position', 'ignition_on'], url: HOOK });

    expect(answer.status).toBe(201);
    const made = dataOf(answer);
    expect(answer.headers.get('location')).toBe(`${PATH}/${String(made[0]?.id)}`);
    expect(made.map((one) => one.eventType)).toEqual(['position', 'ignition_on']);
    expect(made[0]).toEqual({
      id: expect.any(String),
      fleetId: suite.fleetId,
      eventType: 'position',
      url: HOOK,
      metadata: {},
      status: 'active',
      payloadFormat: 'v1',
      auth: { type: 'none' },
      headers: [],
      onOutage: 'fail',
      strictOrder: false,
      version: 1,
      createdAt: '2026-03-20T12:00:00.000Z',
      updatedAt: '2026-03-20T12:00:00.000Z',
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(new Set(made.map((one) => one.secret)).size).toBe(1);
    for (const { id, secret } of made) expect(await signingSecrets(id)).toEqual([secret]);
    for (const { id } of made) expect((await send('GET', `${PATH}/${id}`)).body).not.toHaveProperty('secret');
  });

  it('keeps the secret sealed, and opens to what was shown', async () => {
    const made = await create();
    const [secret, ...more] = (await stored(made.id)).secrets;

    expect(more).toEqual([]);
    expect(JSON.stringify(await stored(made.id))).not.toContain(made.secret.slice('whsec_'.length));
    const opened = openSigningSecret(secret?.sealed ?? '', sealingKeys, made.id);
    expect(opened).toEqual({ type: 'opened', plaintext: signingKey(made.secret) });
    expect(signingKey(made.secret)).toHaveLength(32);
  });

  it('waits until all of it is published', async () => {
    await send('POST', PATH, { eventTypes: ['position', 'ignition_on'], url: HOOK });
    expect(suite.waitedFor).toEqual([[expect.any(String), expect.any(String)]]);
  });

  it("takes the fleet's payload format unless the request names another", async () => {
    const legacy = `${suite.fleetId}-old`;
    await suite.store.fleets.create({ fleetId: legacy, payloadFormat: 'legacy-v1', nowMs: suite.nowMs });
    const make = (body: object) =>
      suite.api.request(PATH, { method: 'POST', key: suite.api.addKey(legacy), json: { url: HOOK, ...body } });
    expect(dataOf(await make({ eventType: 'position' }))[0]).toHaveProperty('payloadFormat', 'legacy-v1');
    expect(dataOf(await make({ eventType: 'ignition_on', payloadFormat: 'v1' }))[0]).toHaveProperty(
      'payloadFormat',
      'v1',
    );
  });

  it('seals the client secret and never shows it', async () => {
    const made = await create({ auth: BEARER, deviceIds: ['device-1'] });
    const { clientSecret, ...shown } = BEARER;

    expect(made).toMatchObject({ auth: shown, deviceIds: ['device-1'] });
    expect(JSON.stringify([made, (await send('GET', PATH)).body, await stored(made.id)])).not.toContain(clientSecret);
    const sealed = (await stored(made.id)).auth?.sealedClientSecret ?? '';
    expect(openClientSecret(sealed, sealingKeys, made.id)).toEqual({
      type: 'opened',
      plaintext: Buffer.from(clientSecret),
    });
  });

  it('takes an audience and credentials in the body of the token request', async () => {
    const options = { audience: 'https://api.example', tokenAuthMethod: 'client_secret_post' };
    expect(await create({ auth: { ...BEARER, ...options } })).toMatchObject({ auth: options });
    expect((await create({ url: `${HOOK}/2`, auth: BEARER })).auth).not.toHaveProperty('tokenAuthMethod');
  });

  it('shows a client that an earlier release has stored', async () => {
    const { id } = await create({ auth: BEARER });
    await suite.sql.query(
      "UPDATE webhook_subscriptions SET auth = auth - 'audience' - 'tokenAuthMethod' WHERE id = $1",
      [id],
    );
    expect((await stored(id)).auth).toMatchObject({ audience: null, tokenAuthMethod: 'client_secret_basic' });
    const { clientSecret: _, ...shown } = BEARER;
    expect((await send('GET', `${PATH}/${id}`)).body).toMatchObject({ auth: shown });
  });

  it('answers 409 when one of the types is taken, and makes none', async () => {
    const { id } = await create({ eventType: 'ignition_on' });
    const answer = await send('POST', PATH, { eventTypes: ['position', 'ignition_on'], url: HOOK });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      error: {
        code: 'conflict',
        message: expect.stringContaining('ignition_on') as unknown,
        details: [{ field: 'url', conflictingId: id }],
      },
    });
    expect(dataOf(await send('GET', PATH))).toHaveLength(1);
  });

  it('takes the same type and URL for another fleet, and the same type for another URL', async () => {
    await create();
    await create({ url: `${HOOK}/2` });
    const other = `${suite.fleetId}-2`;
    await suite.store.fleets.create({ fleetId: other, payloadFormat: 'v1', nowMs: suite.nowMs });
    const answer = await suite.api.request(PATH, {
      method: 'POST',
      key: suite.api.addKey(other),
      json: { eventType: 'position', url: HOOK },
    });
    expect(answer.status).toBe(201);
  });

  it('names every URL that may not be called', async () => {
    const answer = await send('POST', PATH, {
      eventType: 'position',
      url: 'https://internal.example',
      auth: { ...BEARER, tokenUrl: 'https://internal.example/token' },
    });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: {
        code: 'invalid_body',
        details: [
          { field: 'url', message: 'resolves to a private address' },
          { field: 'auth.tokenUrl', message: 'resolves to a private address' },
        ],
      },
    });
    expect(dataOf(await send('GET', PATH))).toEqual([]);
  });

  it('keeps how deliveries are sent, and shows and changes it', async () => {
    const sending = { onOutage: 'hold', rateLimitPerSecond: 5, strictOrder: true };
    const { id } = await create(sending);
    expect(await stored(id)).toMatchObject(sending);
    expect((await send('GET', `${PATH}/${id}`)).body).toMatchObject(sending);

    const changed = { onOutage: 'fail', rateLimitPerSecond: null, strictOrder: false };
    const answer = await send('PATCH', `${PATH}/${id}`, changed);
    expect(answer.body).toMatchObject({ onOutage: 'fail', strictOrder: false });
    expect(answer.body).not.toHaveProperty('rateLimitPerSecond');
    expect(await stored(id)).toMatchObject({ ...changed, version: 2 });
  });

  it('refuses a limit of nothing', async () => {
    const answer = await send('POST', PATH, { eventType: 'position', url: HOOK, rateLimitPerSecond: 0 });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: { details: [{ field: 'rateLimitPerSecond' }] } });
  });

  it('refuses query parameters', async () => {
    expect((await send('POST', `${PATH}?dryRun=true`, { eventType: 'position', url: HOOK })).status).toBe(400);
  });
});

describe('PATCH /public/v1/webhook-subscriptions/{id} (R-16)', () => {
  it('changes the given fields and leaves the rest', async () => {
    const { id } = await create({ deviceIds: ['a'] });
    suite.nowMs += 1_000;
    const answer = await send('PATCH', `${PATH}/${id}`, {
      status: 'paused',
      url: `${HOOK}/new`,
      payloadFormat: 'legacy-v1',
      auth: BEARER,
    });

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      id,
      status: 'paused',
      url: `${HOOK}/new`,
      payloadFormat: 'legacy-v1',
      deviceIds: ['a'],
    });
    expect(answer.body).toMatchObject({
      auth: { type: 'bearer', clientId: 'client' },
      updatedAt: new Date(suite.nowMs).toISOString(),
    });
    const read = await send('GET', `${PATH}/${id.toUpperCase()}`);
    expect(read.body).toEqual({ ...(answer.body as object), health: expect.any(Object) });
    expect((await stored(id)).version).toBe(2);
    expect(suite.waitedFor).toHaveLength(2);
  });

  it('takes deviceIds and auth away again', async () => {
    const { id } = await create({ deviceIds: ['a'], auth: BEARER });
    const answer = await send('PATCH', `${PATH}/${id}`, { deviceIds: null, auth: { type: 'none' } });
    expect(answer.body).toHaveProperty('auth', { type: 'none' });
    expect(answer.body).not.toHaveProperty('deviceIds');
  });

  it('disables for its owner, who needs no reason, and enables again', async () => {
    const { id } = await create();
    for (const status of ['disabled', 'active']) {
      const answer = await send('PATCH', `${PATH}/${id}`, { status });
      expect(answer).toMatchObject({ status: 200, body: { status } });
      expect(answer.body).not.toHaveProperty('disabledReason');
    }
    expect(suite.waitedFor).toHaveLength(3);
  });

  it('makes no new version when nothing changes', async () => {
    const { id } = await create();
    expect((await send('PATCH', `${PATH}/${id}`, { status: 'active' })).status).toBe(200);
    expect((await stored(id)).version).toBe(1);
  });

  it('answers 409 when the event type already goes to that URL', async () => {
    const rival = await create();
    const { id } = await create({ url: `${HOOK}/2` });
    const answer = await send('PATCH', `${PATH}/${id}`, { url: HOOK });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ error: { details: [{ field: 'url', conflictingId: rival.id }] } });
  });

  it.each([[{}], [{ url: 'https://internal.example' }], [{ eventType: 'position' }]])('refuses %j', async (body) => {
    const { id } = await create();
    expect((await send('PATCH', `${PATH}/${id}`, body)).status).toBe(400);
  });
});

describe('DELETE /public/v1/webhook-subscriptions/{id} (R-16)', () => {
  it('deletes for good, and the URL is free again', async () => {
    const { id } = await create();
    const answer = await send('DELETE', `${PATH}/${id}`);
    expect([answer.status, answer.body]).toEqual([204, '']);
    expect((await send('GET', `${PATH}/${id}`)).status).toBe(404);
    expect((await send('DELETE', `${PATH}/${id}`)).status).toBe(404);
    expect((await create()).id).not.toBe(id);
    expect(suite.waitedFor).toHaveLength(3);
  });
});
