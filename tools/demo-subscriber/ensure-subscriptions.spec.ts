import { describe, expect, it } from '@jest/globals';
import type { ApiClient } from '../../apps/cli/src/stack/api-client.js';
import { ensureSubscriptions, type KnownSubscription } from './ensure-subscriptions.js';

interface Stored {
  readonly id: string;
  readonly eventType: string;
  url: string;
}

function urlOf(port: number, eventType: string): string {
  return `http://127.0.0.1:${String(port)}/hooks/${eventType}`;
}

/** The subscriptions part of the API, in memory. */
function build(stored: Stored[] = []) {
  const calls: string[] = [];
  const api: ApiClient = {
    get: () => Promise.resolve({ data: stored }),
    post: (path, body) => {
      const rotate = /\/([^/]+)\/rotate-secret$/.exec(path);
      if (rotate !== null) {
        calls.push(`rotate ${String(rotate[1])}`);
        return Promise.resolve({ secret: 'whsec_rotated' });
      }
      const { url, eventTypes } = body as { url: string; eventTypes: [string] };
      const created = { id: `new-${eventTypes[0]}`, eventType: eventTypes[0], url };
      stored.push(created);
      calls.push(`create ${created.eventType}`);
      return Promise.resolve({ data: [{ ...created, secret: `whsec_${created.eventType}` }] });
    },
    patch: (path, body) => {
      const found = stored.find((one) => path.endsWith(one.id));
      if (found !== undefined) found.url = (body as { url: string }).url;
      calls.push(`move ${String(found?.id)}`);
      return Promise.resolve({});
    },
  };
  const ensure = (port: number, known: readonly KnownSubscription[] = [], host = '127.0.0.1') =>
    ensureSubscriptions({ api, eventTypes: ['position', 'ignition_on'], host, port, known });
  return { calls, ensure, stored };
}

describe("The demo subscriber's subscriptions", () => {
  it('are created when there are none', async () => {
    const { calls, ensure, stored } = build();
    expect(await ensure(4_000)).toEqual([
      { id: 'new-position', eventType: 'position', secret: 'whsec_position' },
      { id: 'new-ignition_on', eventType: 'ignition_on', secret: 'whsec_ignition_on' },
    ]);
    expect(calls).toEqual(['create position', 'create ignition_on']);
    expect(stored.map((one) => one.url)).toEqual([urlOf(4_000, 'position'), urlOf(4_000, 'ignition_on')]);
  });

  it('are at the name by which the subscriber is reached, and move to it', async () => {
    const { calls, ensure, stored } = build();
    const known = await ensure(4_000);
    calls.length = 0;
    await ensure(4_000, known, 'demo-subscriber');
    expect(calls).toEqual(['move new-position', 'move new-ignition_on']);
    expect(stored[0]?.url).toBe('http://demo-subscriber:4000/hooks/position');
  });

  it('are kept on a second run', async () => {
    const { calls, ensure } = build();
    const known = await ensure(4_000);
    calls.length = 0;
    expect(await ensure(4_000, known)).toEqual(known);
    expect(calls).toEqual([]);
  });

  it('move when the port has changed', async () => {
    const { calls, ensure, stored } = build();
    const known = await ensure(4_000);
    calls.length = 0;
    expect(await ensure(5_000, known)).toEqual(known);
    expect(calls).toEqual(['move new-position', 'move new-ignition_on']);
    expect(stored[0]?.url).toBe(urlOf(5_000, 'position'));
  });

  it('get a new secret when theirs was lost', async () => {
    const { calls, ensure } = build([{ id: 's1', eventType: 'position', url: urlOf(4_000, 'position') }]);
    expect((await ensure(4_000))[0]).toEqual({ id: 's1', eventType: 'position', secret: 'whsec_rotated' });
    expect(calls).toEqual(['rotate s1', 'create ignition_on']);
  });

  it('are created again when the API no longer has them', async () => {
    const { calls, ensure } = build();
    await ensure(4_000, [{ id: 'gone', eventType: 'position', secret: 'old' }]);
    expect(calls).toEqual(['create position', 'create ignition_on']);
  });
});
