import { beforeEach, describe, expect, it } from '@jest/globals';
import { openClientSecret } from '@waypost/domain';
import { untilWaitingForLocks } from '../../../../test/support/lock-waits.js';
import { BEARER, dataOf, HOOK, PATH, type Resource, useTestSubscriptions } from '../testing/test-subscriptions.js';

const { suite, send, sealingKeys, stored, signingSecrets, create } = useTestSubscriptions();

describe('POST /public/v1/webhook-subscriptions/{id}/rotate-secret (R-17)', () => {
  it('rotates the secret, and the old one signs for 24 hours more', async () => {
    const made = await create();
    const answer = await send('POST', `${PATH}/${made.id}/rotate-secret`);
    expect(answer.status).toBe(200);
    const rotated = answer.body as Resource;
    expect(rotated.secret).not.toBe(made.secret);

    const { secrets } = await stored(made.id);
    expect(secrets.map((secret) => secret.expiresAt)).toEqual([null, suite.nowMs + 86_400_000]);
    expect(await signingSecrets(made.id)).toEqual([rotated.secret, made.secret]);
  });

  it('answers 409 when too many secrets would sign', async () => {
    const { id } = await create();
    const statuses: number[] = [];
    for (let index = 0; index < 8; index++) statuses.push((await send('POST', `${PATH}/${id}/rotate-secret`)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 409]);
  });
});

describe('?scope (R-16)', () => {
  let position: Resource;
  let ignition: Resource;
  let elsewhere: Resource;
  const all = () => [position.id, ignition.id, elsewhere.id];
  const versions = () => Promise.all(all().map(async (id) => (await stored(id)).version));
  beforeEach(async () => {
    const made = dataOf(await send('POST', PATH, { eventTypes: ['position', 'ignition_on'], url: HOOK }));
    const other = dataOf(await send('POST', PATH, { eventType: 'position', url: `${HOOK}/2` }));
    [position, ignition, elsewhere] = [...made, ...other] as [Resource, Resource, Resource];
    suite.waitedFor.splice(0);
  });

  it('url rotates the secret of all subscriptions at the URL, and of no other', async () => {
    const { status, body } = await send('POST', `${PATH}/${ignition.id}/rotate-secret?scope=url`);
    const { id, secret } = body as Resource;
    expect([status, id]).toEqual([200, ignition.id]);
    for (const one of [position, ignition]) expect(await signingSecrets(one.id)).toEqual([secret, one.secret]);
    expect(await signingSecrets(elsewhere.id)).toEqual([elsewhere.secret]);
    expect(suite.waitedFor).toEqual([[expect.any(String), expect.any(String)]]);
  });

  it('url changes all subscriptions at the URL, with a client secret that each can open', async () => {
    const change = { status: 'paused', url: `${HOOK}/new`, auth: BEARER };
    const answer = await send('PATCH', `${PATH}/${position.id}?scope=url`, change);
    expect(answer.body).toMatchObject({ id: position.id, status: 'paused', url: `${HOOK}/new` });
    for (const { id } of [position, ignition]) {
      const { status, url, auth } = await stored(id);
      expect([status, url]).toEqual(['paused', `${HOOK}/new`]);
      expect(openClientSecret(auth?.sealedClientSecret ?? '', sealingKeys, id).type).toBe('opened');
    }
    expect(await versions()).toEqual([2, 2, 1]);
  });

  it('url changes none when one of them cannot move, and says which subscription is in the way', async () => {
    const answer = await send('PATCH', `${PATH}/${ignition.id}?scope=url`, { url: `${HOOK}/2` });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ error: { details: [{ conflictingId: elsewhere.id }] } });
    expect(await versions()).toEqual([1, 1, 1]);
  });

  it('url rotates none when one of them has too many secrets', async () => {
    for (let index = 0; index < 7; index++) await send('POST', `${PATH}/${position.id}/rotate-secret`);
    expect((await send('POST', `${PATH}/${ignition.id}/rotate-secret?scope=url`)).status).toBe(409);
    expect(await versions()).toEqual([8, 1, 1]);
  });

  it.each(['', '?scope=subscription'])('"%s" changes only the named one', async (query) => {
    await send('PATCH', `${PATH}/${position.id}${query}`, { status: 'paused' });
    await send('POST', `${PATH}/${position.id}/rotate-secret${query}`);
    expect(await versions()).toEqual([3, 1, 1]);
  });

  it('refuses another scope', async () => {
    expect((await send('POST', `${PATH}/${position.id}/rotate-secret?scope=fleet`)).status).toBe(400);
  });

  it('never deadlocks when concurrent rotations name different subscriptions', async () => {
    const rotate = ({ id }: Resource) => send('POST', `${PATH}/${id}/rotate-secret?scope=url`);
    const answers = await Promise.all([position, ignition, position, ignition].map(rotate));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('url keeps each secret that it has answered when several rotate at the same time', async () => {
    await suite.sql.query('BEGIN');
    await suite.sql.query('SELECT FROM webhook_subscriptions WHERE fleet_id = $1 FOR UPDATE', [suite.fleetId]);
    const rotate = ({ id }: Resource) => send('POST', `${PATH}/${id}/rotate-secret?scope=url`);
    const rotations = [position, ignition, position, ignition].map(rotate);
    await untilWaitingForLocks(suite.sql, rotations.length);
    await suite.sql.query('ROLLBACK');
    const shown = (await Promise.all(rotations)).map(({ body }) => (body as Resource).secret);
    expect(await versions()).toEqual([5, 5, 1]);
    for (const { id, secret } of [position, ignition])
      expect((await signingSecrets(id)).toSorted()).toEqual([secret, ...shown].toSorted());
  });
});
