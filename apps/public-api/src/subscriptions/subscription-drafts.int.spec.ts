import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { openHeaderValue } from '@waypost/domain';
import { useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/webhook-subscriptions';

interface Resource {
  readonly id: string;
  readonly description?: string;
  readonly metadata: object;
  readonly headers: object[];
}

const sealingKeys = [randomBytes(32)];
const suite = useTestFleet({ sealingKeys });
const { send } = suite;

async function create(fields: object): Promise<Resource> {
  const body = { eventType: 'position', url: 'https://receiver.example/hook', ...fields };
  const answer = await send('POST', PATH, body);
  const [made] = (answer.body as { data: Resource[] }).data;
  if (answer.status !== 201 || made === undefined) throw new Error(JSON.stringify(answer.body));
  return made;
}

async function read(id: string): Promise<Resource> {
  return (await send('GET', `${PATH}/${id}`)).body as Resource;
}

describe('what the owner of a subscription writes about it (R-16)', () => {
  const notes = { description: 'Gate of the depot', metadata: { team: 'yard', ref: '7' } };
  let made: Resource;
  beforeEach(async () => {
    made = await create(notes);
  });

  it('is in the answer to its creation, to a GET and in the list', async () => {
    expect(made).toMatchObject(notes);
    expect(await read(made.id)).toMatchObject(notes);
    const list = await send('GET', PATH);
    expect(list.body).toMatchObject({ data: [notes] });
  });

  it('is published, so that a lost database gets it back (R-17)', async () => {
    const { rows } = await suite.sql.query('SELECT value FROM outbox WHERE key = $1', [made.id]);
    expect(rows).toMatchObject([{ value: notes }]);
  });

  it('is nothing by default: no description, and metadata without keys', async () => {
    const { id } = await create({ eventType: 'ignition_on' });
    const bare = await read(id);
    expect(bare).toMatchObject({ metadata: {} });
    expect(bare).not.toHaveProperty('description');
  });

  it('is changed field by field, metadata as a whole, and can be taken away', async () => {
    const changed = await send('PATCH', `${PATH}/${made.id}`, { metadata: { ref: '8' } });
    expect(changed.body).toMatchObject({ description: 'Gate of the depot' });
    expect((changed.body as Resource).metadata).toEqual({ ref: '8' });
    await send('PATCH', `${PATH}/${made.id}`, { description: null, metadata: {} });
    const bare = await read(made.id);
    expect(bare.metadata).toEqual({});
    expect(bare).not.toHaveProperty('description');
  });

  it('makes no new version when the same metadata comes in another order', async () => {
    const { headers } = await send('PATCH', `${PATH}/${made.id}`, { metadata: { ref: '7', team: 'yard' } });
    expect(headers.get('etag')).toBe('"1"');
  });

  it('is of each subscription that one POST makes, and of each that ?scope=url changes', async () => {
    const body = { eventTypes: ['ignition_on', 'ignition_off'], url: 'https://receiver.example/both', ...notes };
    const { data } = (await send('POST', PATH, body)).body as { data: Resource[] };
    expect(data).toMatchObject([notes, notes]);
    await send('PATCH', `${PATH}/${String(data[0]?.id)}?scope=url`, { description: 'Both' });
    expect(await read(String(data[1]?.id))).toMatchObject({ ...notes, description: 'Both' });
    expect(await read(made.id)).toMatchObject(notes);
  });
});

describe('the headers that the owner of a subscription adds (R-16, R-19)', () => {
  const SECRET = 'key-of-the-receiver-9f2';
  const headers = [
    { name: 'X-Site', value: 'north' },
    { name: 'x-api-key', value: SECRET, secret: true },
  ];
  const shown = [
    { name: 'x-site', value: 'north', secret: false },
    { name: 'x-api-key', secret: true },
  ];

  async function storedValues(id: string): Promise<unknown[]> {
    const found = await suite.store.subscriptions.get({ fleetId: suite.fleetId, id });
    return (found?.headers ?? []).map(({ name, value, sealedValue }) => {
      if (sealedValue === null) return value;
      const opened = openHeaderValue(sealedValue, sealingKeys, { subscriptionId: id, name });
      return opened.type === 'opened' ? opened.plaintext.toString() : opened.reason;
    });
  }

  it('are shown without the values that are secret, on creation, in a GET, in the list and after a change', async () => {
    const made = await create({ headers });
    expect(made.headers).toEqual(shown);
    expect((await read(made.id)).headers).toEqual(shown);
    expect((await send('GET', PATH)).body).toMatchObject({ data: [{ headers: shown }] });
    const changed = await send('PATCH', `${PATH}/${made.id}`, { description: 'x' });
    expect((changed.body as Resource).headers).toEqual(shown);
  });

  it('are stored and published with a secret value only sealed, for this subscription and name alone (R-17)', async () => {
    const { id } = await create({ headers });
    expect(await storedValues(id)).toEqual(['north', SECRET]);
    const { rows } = await suite.sql.query<{ row: string }>(
      `SELECT to_jsonb(s)::text AS row FROM webhook_subscriptions AS s WHERE id = $1
       UNION ALL SELECT value::text FROM outbox WHERE key = $1::text`,
      [id],
    );
    expect(rows).toHaveLength(2);
    for (const { row } of rows) {
      expect(row).toContain('north');
      expect(row).not.toContain(SECRET);
    }
    const sealed = (await suite.store.subscriptions.get({ fleetId: suite.fleetId, id }))?.headers[1]?.sealedValue ?? '';
    const moved = { subscriptionId: id, name: 'x-site' };
    expect(openHeaderValue(sealed, sealingKeys, moved)).toMatchObject({ type: 'unreadable' });
  });

  it('are replaced as a whole, and can be taken away', async () => {
    const { id } = await create({ headers });
    await send('PATCH', `${PATH}/${id}`, { headers: [{ name: 'x-new', value: 'v' }] });
    expect((await read(id)).headers).toEqual([{ name: 'x-new', value: 'v', secret: false }]);
    await send('PATCH', `${PATH}/${id}`, { headers: [] });
    expect((await read(id)).headers).toEqual([]);
  });

  it('open for each of the subscriptions that one POST makes, and that ?scope=url changes', async () => {
    const body = { eventTypes: ['ignition_on', 'ignition_off'], url: 'https://receiver.example/both', headers };
    const { data } = (await send('POST', PATH, body)).body as { data: Resource[] };
    for (const { id } of data) expect(await storedValues(id)).toEqual(['north', SECRET]);
    const change = { headers: [{ name: 'x-api-key', value: 'another', secret: true }] };
    await send('PATCH', `${PATH}/${String(data[0]?.id)}?scope=url`, change);
    for (const { id } of data) expect(await storedValues(id)).toEqual(['another']);
  });

  it('are refused with the field named when they are ours or break the request apart', async () => {
    const wrong = [
      { name: 'Host', value: 'internal.example' },
      { name: 'x-a', value: 'v\r\nx-service-attempt: 1' },
    ];
    const body = { eventType: 'position', url: 'https://receiver.example/hook', headers: wrong };
    const answer = await send('POST', PATH, body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { details: [{ field: 'headers.0.name' }, { field: 'headers.1.value' }] },
    });
    expect(JSON.stringify(answer.body)).not.toContain('x-service-attempt');
  });
});
