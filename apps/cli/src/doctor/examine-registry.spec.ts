import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
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
      { level: 'problem', what: 'GET /subjects responds with 401', fix: expect.stringMatching(/^Add the user/) },
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
      {
        what: 'GET /subjects responds with 403',
        fix: expect.stringMatching(/^Check the user and password in .* read/),
      },
    ]);
  });

  it('says to check the password that there is, where the registry does not accept it', async () => {
    const registry = { url: `https://ann:wrong@${address}/`, ca: authority.cert };
    expect(await examineRegistry(registry, Date.now)).toEqual([
      {
        level: 'problem',
        about: 'registry',
        what: 'GET /subjects responds with 401',
        fix: 'Check the user and password in SCHEMA_REGISTRY_URL.',
      },
    ]);
  });

  it('says nothing of its mode to an application, which registers nothing', async () => {
    const registry = { url: `https://ann:secret@${address}/`, ca: authority.cert };
    const mode = expect.objectContaining({ what: 'its mode is READONLY' });
    expect(await examineRegistry(registry, Date.now, 'set-up')).toContainEqual(mode);
    expect(await examineRegistry(registry, Date.now, 'public-api')).not.toContainEqual(mode);
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

describe('The doctor, at a registry', () => {
  /** @param answer what a request for this path gets, and after what */
  async function atRegistry<T>(
    answer: (path: string) => { readonly status: number },
    examine: (url: string) => Promise<T>,
  ): Promise<T> {
    const plain = createPlainServer((request, response) => {
      response.writeHead(answer(request.url ?? '').status).end('[]');
    }).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    try {
      return await examine(`http://127.0.0.1:${String((plain.address() as AddressInfo).port)}`);
    } finally {
      plain.close();
    }
  }

  it.each([500, 502, 503])(
    'that responds with %i, says that it is not up, and not that its address is wrong',
    async (status) => {
      const findings = await atRegistry(
        () => ({ status }),
        (url) => examineRegistry({ url }, Date.now),
      );
      expect(findings).toMatchObject([{ level: 'problem', fix: expect.stringContaining('is not up') }]);
    },
  );

  it('that takes long for a later response, compares its clock with the time of the first', async () => {
    let lateMs = 0;
    const findings = await atRegistry(
      (path) => {
        if (path === '/mode') lateMs = 60_000;
        return { status: 200 };
      },
      (url) => examineRegistry({ url }, () => Date.now() + lateMs),
    );
    expect(lateMs).toBe(60_000);
    expect(findings.map(({ what }) => what)).toEqual(['it responds, with 0 subjects']);
  });

  it('that takes long for the first one, does not take that for a difference of the clocks', async () => {
    let lateMs = 0;
    const findings = await atRegistry(
      () => {
        lateMs = 60_000;
        return { status: 200 };
      },
      (url) => examineRegistry({ url }, () => Date.now() + lateMs),
    );
    expect(findings.map(({ what }) => what)).toEqual(['it responds, with 0 subjects']);
  });
});
