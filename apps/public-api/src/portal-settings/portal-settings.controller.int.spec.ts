import { describe, expect, it } from '@jest/globals';
import { useTestFleet } from '../testing/test-fleet.js';

const PATH = '/public/v1/fleet/portal';
const PIXEL = 'data:image/png;base64,iVBORw0KGgo=';

const suite = useTestFleet();
const { send } = suite;

describe('the portal of a fleet (R-42)', () => {
  it('is framed by no page until the fleet names one', async () => {
    const { status, body, headers } = await send('GET', PATH);
    expect([status, headers.get('etag')]).toEqual([200, '"1"']);
    expect(body).toMatchObject({ frameAncestors: [], colorScheme: 'auto' });
    expect(body).not.toHaveProperty('brandColor');
  });

  it('keeps what a change does not name, and its address', async () => {
    const before = (await send('GET', PATH)).body;
    const frameAncestors = ['https://app.example.com', 'https://b.example:8443'];
    await send('PATCH', PATH, { frameAncestors, logoUrl: PIXEL });
    const changed = await send('PATCH', PATH, { brandColor: '#0f766e', colorScheme: 'light' });
    expect(changed.body).toMatchObject({
      frameAncestors,
      logoUrl: PIXEL,
      brandColor: '#0f766e',
      colorScheme: 'light',
      version: 3,
      portalId: (before as { portalId: string }).portalId,
    });
    const removed = await send('PATCH', PATH, { logoUrl: null, brandColor: null, frameAncestors: [] });
    expect(removed.body).toMatchObject({ frameAncestors: [], version: 4 });
    expect(removed.body).not.toHaveProperty('logoUrl');
  });

  it('changes only while it has the expected version', async () => {
    await send('PATCH', PATH, { brandColor: '#0f766e' });
    const late = await send('PATCH', PATH, { brandColor: '#1d4ed8' }, { 'if-match': '"1"' });
    expect([late.status, late.headers.get('etag')]).toEqual([412, '"2"']);
    const same = await send('PATCH', PATH, { brandColor: '#0f766e' }, { 'if-match': '"2"' });
    expect([same.status, same.headers.get('etag')]).toEqual([200, '"2"']);
  });

  it.each([
    { frameAncestors: ['*'] },
    { frameAncestors: ['https://*.example.com'] },
    { frameAncestors: ['http://app.example.com'] },
    { frameAncestors: ['https://app.example.com/'] },
    { frameAncestors: ["https://a.example; script-src 'unsafe-inline'"] },
    { frameAncestors: ['https://a.example\nhttps://b.example'] },
    { frameAncestors: ['https://user@a.example'] },
    { frameAncestors: ["'self'"] },
    { frameAncestors: ['data:'] },
    { frameAncestors: Array.from({ length: 21 }, (_, n) => `https://a${String(n)}.example`) },
    { brandColor: 'red' },
    { brandColor: '#0f766e;}' },
    { logoUrl: 'http://cdn.example/logo.png' },
    { logoUrl: 'https://cdn.example;b/logo.png' },
    { logoUrl: 'https://cdn.example,b/logo.png' },
    { logoUrl: 'data:text/html;base64,AAAA' },
    { logoUrl: `data:image/png;base64,${'A'.repeat(50_000)}` },
    { logoUrl: 'javascript:alert(1)' },
    { colorScheme: 'sepia' },
    {},
  ])('is refused %j', async (body) => {
    const answer = await send('PATCH', PATH, body);
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code: 'invalid_body' } }]);
    expect((await send('GET', PATH)).body).toMatchObject({ version: 1 });
  });

  it('is one per fleet, also when many ask for it at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('GET', PATH)));
    expect(new Set(answers.map(({ body }) => (body as { portalId: string }).portalId)).size).toBe(1);
  });
});
