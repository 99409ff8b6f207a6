import { beforeEach, describe, expect, it } from '@jest/globals';
import { useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/webhook-subscriptions';

interface Resource {
  readonly id: string;
  readonly description?: string;
  readonly metadata: object;
}

const suite = useTestFleet();
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
