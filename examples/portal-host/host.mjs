// A page of a platform with the portal of Waypost in it: `node host.mjs`.
import { createServer } from 'node:http';

const { WAYPOST_URL = 'http://127.0.0.1:3000', WAYPOST_API_KEY = '', PORT = '9100' } = process.env;

/** Calls the API with the key, which stays on this server. */
async function waypost(method, path, body) {
  const headers = { authorization: `Bearer ${WAYPOST_API_KEY}`, 'content-type': 'application/json' };
  const response = await fetch(new URL(path, WAYPOST_URL), { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

// Once per fleet: this page may show the portal, in our color.
const origin = `http://127.0.0.1:${PORT}`;
await waypost('PATCH', '/public/v1/fleet/portal', { frameAncestors: [origin], brandColor: '#0f766e' });

const server = createServer(async (request, response) => {
  if (request.url !== '/') return response.writeHead(404).end();
  // Here: check who is signed in, and add `subscriptionIds` with what belongs to them.
  const scopes = ['events:read', 'subscriptions:read'];
  const session = await waypost('POST', '/public/v1/portal-sessions', { scopes, returnUrl: origin }).catch(
    console.error,
  );
  if (!session) return response.writeHead(502).end();
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  response.end(`<!doctype html><title>My platform</title><h1>Your webhooks</h1>
<iframe src="${session.link}" title="Webhooks" allow="clipboard-write" referrerpolicy="no-referrer" style="width: 100%; height: 80vh"></iframe>`);
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`Open ${origin}/`));
