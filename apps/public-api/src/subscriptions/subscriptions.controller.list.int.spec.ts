import { describe, expect, it } from '@jest/globals';
import { MAX_PAGE_BYTES } from '@waypost/domain';
import { useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/webhook-subscriptions';
const HOOK = 'https://receiver.example/hook';

const suite = useTestFleet();
const { send } = suite;

interface Page {
  readonly data: { readonly id: string; readonly description?: string }[];
  readonly nextPageState: string | null;
}

async function create(description: string | null, fields: object = {}): Promise<string> {
  suite.nowMs += 1;
  const url = `${HOOK}/${String(suite.nowMs)}`;
  const answer = await send('POST', PATH, { eventType: 'position', url, description, ...fields });
  return (answer.body as Page).data[0]?.id ?? '';
}

async function page(query: Record<string, string>): Promise<Page> {
  const answer = await send('GET', `${PATH}?${new URLSearchParams(query).toString()}`);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body as Page;
}

async function found(query: Record<string, string>): Promise<string[]> {
  return (await page(query)).data.map(({ description = '' }) => description);
}

async function walk(query: Record<string, string>): Promise<string[]> {
  const walked: string[] = [];
  let state: string | null = null;
  do {
    const next: Page = await page({ ...query, ...(state === null ? {} : { pageState: state }) });
    walked.push(...next.data.map(({ description = '' }) => description));
    state = next.nextPageState;
  } while (state !== null);
  return walked;
}

describe('the list of subscriptions (R-16)', () => {
  it('has those of a status, of an event type, of a URL, and what all of these leave', async () => {
    await create('a');
    const paused = await create('b');
    await send('PATCH', `${PATH}/${paused}`, { status: 'paused' });
    await create('c', { eventType: 'ignition_on', url: `${HOOK}/own` });
    await create('d', { url: `${HOOK}/own` });
    expect(await found({ status: 'paused' })).toEqual(['b']);
    expect(await found({ status: 'disabled' })).toEqual([]);
    expect(await found({ eventType: 'ignition_on' })).toEqual(['c']);
    expect(await found({ url: `${HOOK}/own` })).toEqual(['c', 'd']);
    expect(await found({ url: `${HOOK}/own`, eventType: 'position', status: 'active' })).toEqual(['d']);
    expect(await found({ url: HOOK })).toEqual([]);
  });

  it('finds a text in descriptions as it is, whatever its case', async () => {
    for (const description of ['Gate of the DEPOT', '100 % of depot_2', 'Élan', null]) await create(description);
    expect(await found({ text: 'depot' })).toEqual(['Gate of the DEPOT', '100 % of depot_2']);
    expect(await found({ text: '%' })).toEqual(['100 % of depot_2']);
    expect(await found({ text: 't_' })).toEqual(['100 % of depot_2']);
    expect(await found({ text: 'élan' })).toEqual(['Élan']);
    expect(await found({ text: 'yard' })).toEqual([]);
  });

  it.each([
    ['asc', ['a', 'b', 'c', 'd', 'e']],
    ['desc', ['e', 'd', 'c', 'b', 'a']],
  ])('walks in the order %s, every one once', async (order, expected) => {
    for (const description of ['a', 'b', 'c', 'd', 'e']) await create(description);
    expect(await walk({ order, limit: '2' })).toEqual(expected);
    expect(await walk({ order, limit: '2', status: 'active' })).toEqual(expected);
  });

  it('ends a page early where its records have 4 MiB, and goes on from there (R-34a)', async () => {
    const deviceIds = Array.from({ length: 1_000 }, (_, n) => `${'d'.repeat(85)}-${String(n)}`);
    const expected = Array.from({ length: 60 }, (_, n) => String(n));
    for (const description of expected) await create(description, { deviceIds });
    const first = await page({ limit: '1000' });
    // JSON has some more quotes than the stored text.
    expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(1.1 * MAX_PAGE_BYTES);
    expect(first.data.length).toBeGreaterThan(40);
    expect(await walk({ limit: '1000' })).toEqual(expected);
    expect(await walk({ limit: '1000', order: 'desc' })).toEqual(expected.reverse());
  });

  it('keeps an order among those that one POST made', async () => {
    const eventTypes = ['position', 'ignition_on', 'ignition_off'];
    await create('all', { eventType: undefined, eventTypes });
    const ids = async (order: string) => (await page({ order })).data.map(({ id }) => id);
    expect(await ids('desc')).toEqual((await ids('asc')).reverse());
    expect(await walk({ order: 'desc', limit: '1' })).toEqual(['all', 'all', 'all']);
  });

  it('goes on only with the filters and the order that it began with (R-34)', async () => {
    for (const description of ['a', 'b', 'c']) await create(description);
    const { nextPageState } = await page({ limit: '1', order: 'desc', status: 'active' });
    for (const query of ['order=asc&status=active', 'order=desc', 'order=desc&status=active&text=a']) {
      const answer = await send('GET', `${PATH}?${query}&pageState=${String(nextPageState)}`);
      expect(answer.body).toMatchObject({ error: { code: 'page_state_other_query' } });
    }
  });

  it("refuses another fleet's page token (R-34)", async () => {
    await create('a');
    await create('b');
    const { nextPageState } = await page({ limit: '1' });
    const key = suite.api.addKey('other');
    const answer = await suite.api.request(`${PATH}?pageState=${String(nextPageState)}`, { key });
    expect(answer.body).toMatchObject({ error: { code: 'page_state_other_fleet' } });
  });

  it.each([
    ...['order=up', 'eventType=teleport', 'text=', 'url=', 'status=', 'text=%00'],
    ...['limit=0', 'limit=1001', 'status=gone'],
  ])('refuses %s', async (query) => {
    expect((await send('GET', `${PATH}?${query}`)).status).toBe(400);
  });
});
