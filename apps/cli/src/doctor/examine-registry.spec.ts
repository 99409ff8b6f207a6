import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeAuthority } from '../../../../test/support/certificates.js';
import { examineRegistry } from './examine-registry.js';

function loginOf(user: string): string {
  return `Basic ${Buffer.from(`${user}:secret`).toString('base64')}`;
}

const authority = makeAuthority();
const server = createServer(authority.issue({ subjectAltName: 'IP:127.0.0.1' }), (request, response) => {
  const [user] = ['ann', 'reader', 'stranger'].filter((name) => request.headers.authorization === loginOf(name));
  const status =
    user === undefined
      ? 401
      : user === 'stranger'
        ? 403
        : request.method === 'GET'
          ? 200
          : user === 'reader'
            ? 403
            : 422;
  response.writeHead(status).end(request.url === '/mode' ? '{"mode":"READONLY"}' : '["a","b"]');
});
let address: string;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => {
  server.close();
});

describe('The doctor, at a registry with a certificate authority of its own', () => {
  it('asks it with that authority, and with the user of its URL', async () => {
    const url = `https://ann:secret@${address}/`;
    expect(await examineRegistry({ url, ca: authority.cert }, Date.now)).toMatchObject([
      { level: 'ok', what: 'it responds, with 2 subjects' },
      { level: 'problem', what: 'its mode is READONLY' },
    ]);
    expect(await examineRegistry({ url: `https://${address}`, ca: authority.cert }, Date.now)).toMatchObject([
      { level: 'problem', what: 'it responds with 401' },
    ]);
  });

  it('names the variable for the authority where that is missing', async () => {
    expect(await examineRegistry({ url: `https://${address}` }, Date.now)).toMatchObject([
      { level: 'problem', what: 'it does not respond', fix: expect.stringContaining('SCHEMA_REGISTRY_CA_FILE') },
    ]);
  });

  it('names the login as what is wrong, where that may not read', async () => {
    const registry = { url: `https://stranger:secret@${address}/`, ca: authority.cert };
    expect(await examineRegistry(registry, Date.now)).toMatchObject([
      { what: 'it responds with 403', fix: expect.stringContaining('user and password') },
    ]);
  });

  it.each([
    ['behind', 3_600_000, /^its clock differs by -3[56]\d\d s$/],
    ['ahead', -3_600_000, /^its clock differs by 3[56]\d\d s$/],
  ])('says that the clock of the registry is %s', async (_, aheadMs, what) => {
    const registry = { url: `https://ann:secret@${address}/`, ca: authority.cert };
    const findings = await examineRegistry(registry, () => Date.now() + aheadMs);
    expect(findings.at(-1)).toMatchObject({ level: 'warning', what: expect.stringMatching(what) });
  });

  it('names a login that may read and not register, where schemas are registered with it', async () => {
    const registry = { url: `https://reader:secret@${address}/`, ca: authority.cert };
    const finding = expect.objectContaining({ level: 'problem', what: expect.stringContaining('not register them') });
    expect(await examineRegistry(registry, Date.now)).toContainEqual(finding);
    expect(await examineRegistry(registry, Date.now, 'set-up')).toContainEqual(finding);
    expect(await examineRegistry(registry, Date.now, 'webhook-delivery')).not.toContainEqual(finding);
  });
});
