import { describe, expect, it } from '@jest/globals';
import { answeringServices, NO_PAGE } from '../test/answering-service.js';

const { build } = answeringServices();

describe('pages of the client', () => {
  const answers = [
    { status: 200, body: { data: [{ eventId: 'a' }, { eventId: 'b' }], nextPageState: 'p2' } },
    { status: 200, body: { data: [], nextPageState: 'p3' } },
    { status: 200, body: { data: [{ eventId: 'c' }], nextPageState: null } },
  ];

  it('are requested one after the other, with the same filters', async () => {
    const { received, waypost } = await build(answers);
    const ids: string[] = [];
    for await (const { eventId } of waypost.items('listEvents', { deviceId: 'd' })) ids.push(eventId);
    expect(ids).toEqual(['a', 'b', 'c']);
    expect(received.map(({ url }) => url.split('?')[1])).toEqual([
      'deviceId=d',
      'deviceId=d&pageState=p2',
      'deviceId=d&pageState=p3',
    ]);
  });

  it('continue where an earlier walk has ended', async () => {
    const { received, waypost } = await build([NO_PAGE]);
    for await (const page of waypost.pages('listEvents', { pageState: 'p7' })) expect(page.data).toEqual([]);
    expect(received.map(({ url }) => url.split('?')[1])).toEqual(['pageState=p7']);
  });

  it('are not requested beyond the one that is in use', async () => {
    const { received, waypost } = await build(answers);
    for await (const page of waypost.pages('listEvents')) {
      expect(page.data).toHaveLength(2);
      break;
    }
    expect(received).toHaveLength(1);
  });

  it('of version 1 are the same to the caller', async () => {
    const body = { events: [{ event_id: 'a' }], next_page_state: null };
    const { waypost } = await build([{ status: 200, body }]);
    const ids: string[] = [];
    for await (const event of waypost.items('listWebhookEventsV1', { startDate: 'a', endDate: 'b' }))
      ids.push(event.event_id);
    expect(ids).toEqual(['a']);
  });
});
