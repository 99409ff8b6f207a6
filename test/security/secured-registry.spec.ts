import { createServer as createPlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createSchemaRegistry } from '@waypost/contracts';
import { createAuthority } from './testing/certificates.js';

const USER = 'way post';
const PASSWORD = 'p@ss:word/%';
const CREDENTIALS = `${encodeURIComponent(USER)}:${encodeURIComponent(PASSWORD)}`;
const SCHEMA = { type: 'record', name: 'R', fields: [] };

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A registry with TLS, without any schema at first, that requires a login for everything. */
async function build() {
  const authority = await createAuthority('Registry test');
  const { cert, key } = await authority.issue('registry');
  const registered: string[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const login = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
    if (request.headers.authorization !== login) return answer(401, { error_code: 401, message: 'Unauthorized' });
    const { method = '', url = '' } = request;
    if (method === 'POST' && url.endsWith('/versions')) {
      registered.push(url);
      return answer(200, { id: 7 });
    }
    if (method === 'POST')
      return answer(registered.length === 0 ? 404 : 200, registered.length === 0 ? { error_code: 40_401 } : { id: 7 });
    if (method === 'PUT') return answer(200, { compatibility: 'BACKWARD_TRANSITIVE' });
    if (url.startsWith('/config')) return answer(200, { compatibilityLevel: 'BACKWARD_TRANSITIVE' });
    return answer(200, { schema: JSON.stringify(SCHEMA) });
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { ca: authority.ca, port, registered, url: `https://${CREDENTIALS}@127.0.0.1:${String(port)}` };
}

describe('A registry behind TLS and a login', () => {
  it('is asked and written to', async () => {
    const { url, ca, registered } = await build();
    const registry = createSchemaRegistry({ url, ca });
    expect(await registry.idOf('s-value', SCHEMA)).toBeNull();
    expect(await registry.register('s-value', SCHEMA)).toBe(7);
    expect(registered).toEqual(['/subjects/s-value/versions']);
    await registry.setCompatibility('s-value', 'BACKWARD_TRANSITIVE');
    expect(await registry.schemaById(7)).toEqual({ type: 'avro', schema: SCHEMA });
  });

  it('is not trusted under another authority, and the error names the setting that fixes it', async () => {
    const { url } = await build();
    const { ca } = await createAuthority('Stranger');
    const untrusted = {
      code: 'registry_untrusted',
      message: expect.stringContaining('SCHEMA_REGISTRY_CA_FILE') as unknown,
    };
    await expect(createSchemaRegistry({ url, ca }).schemaById(7)).rejects.toMatchObject(untrusted);
    await expect(createSchemaRegistry({ url }).register('s-value', SCHEMA)).rejects.toMatchObject(untrusted);
  });

  it('is not trusted under another name', async () => {
    const { url, ca } = await build();
    const elsewhere = createSchemaRegistry({ url: url.replace('@127.0.0.1', '@localhost'), ca });
    await expect(elsewhere.schemaById(7)).rejects.toMatchObject({ code: 'registry_untrusted' });
  });

  it.each(['', 'way%20post:wrong-password@'])('refuses the login %j, without repeating it', async (credentials) => {
    const { url, ca } = await build();
    const registry = createSchemaRegistry({ url: url.replace(`${CREDENTIALS}@`, credentials), ca });
    for (const asked of [registry.schemaById(7), registry.register('s-value', SCHEMA)]) {
      const error: unknown = await asked.catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'registry_refused', retriable: false });
      expect(String(error)).toMatch(/SCHEMA_REGISTRY_URL/);
      expect(String(error)).not.toMatch(/wrong-password/);
    }
  });

  it('is distinguished from an outage when one side does not use TLS', async () => {
    const { port, ca } = await build();
    const wrongScheme = { code: 'registry_untrusted', message: expect.stringContaining('http or https') as unknown };
    const plainly = createSchemaRegistry({ url: `http://127.0.0.1:${String(port)}` });
    await expect(plainly.schemaById(7)).rejects.toMatchObject({
      code: expect.stringMatching(/^registry_un/) as unknown,
    });
    const plain = createPlainServer((_request, response) => response.end());
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${String((plain.address() as AddressInfo).port)}`;
    await expect(createSchemaRegistry({ url, ca }).schemaById(7)).rejects.toMatchObject(wrongScheme);
    plain.close();
  });
});
