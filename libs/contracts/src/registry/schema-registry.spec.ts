import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createSchemaRegistry } from './schema-registry.js';

interface Answer {
  readonly status: number;
  readonly body: string;
}

const open: Server[] = [];

/** A registry that gives one answer to everything, or one per request; null: never answers. */
async function build(answer: Answer | null | ((request: string) => Answer), credentials = '') {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const path = request.url?.replace('/apis/ccompat/v7', '') ?? '';
    const given = typeof answer === 'function' ? answer(`${request.method ?? ''} ${path}`) : answer;
    if (given !== null) response.writeHead(given.status, { 'content-type': 'application/json' }).end(given.body);
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://${credentials}127.0.0.1:${String(port)}/apis/ccompat/v7/`;
  return { registry: createSchemaRegistry({ url, timeoutMs: answer === null ? 200 : 20_000 }), requests };
}

afterEach(() => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

function json(status: number, body: object): Answer {
  return { status, body: JSON.stringify(body) };
}
const unavailable = { code: 'registry_unavailable', retriable: true };

describe('The schema registry client', () => {
  it('returns the schema of an id', async () => {
    const { registry, requests } = await build(json(200, { schema: '{"type":"record","name":"R","fields":[]}' }));
    expect(await registry.schemaById(4)).toEqual({ type: 'avro', schema: { type: 'record', name: 'R', fields: [] } });
    expect(requests[0]?.url).toBe('/apis/ccompat/v7/schemas/ids/4');
  });

  it("reports an unknown id for the registry's own 404", async () => {
    const { registry } = await build(json(404, { error_code: 40_403, message: 'Schema not found' }));
    expect(await registry.schemaById(4)).toEqual({ type: 'unknown' });
  });

  it.each([
    ['a 404 of something that is not a registry', { status: 404, body: '<html>not found</html>' }],
    ['a 404 that is about something else', json(404, { error: 'no route' })],
    ['a 502', { status: 502, body: 'bad gateway' }],
    ['a 500 of the registry', json(500, { error_code: 50_001, message: 'store is down' })],
    ['an answer without a schema', json(200, { status: 'ok' })],
    ['a page instead of a schema', { status: 200, body: '<html>log in</html>' }],
    ['no answer', null],
  ])('does not take %s for an unknown id', async (_what, answer) => {
    const { registry } = await build(answer);
    await expect(registry.schemaById(4)).rejects.toMatchObject(unavailable);
  });

  it('calls a registry that is not there unavailable', async () => {
    const registry = createSchemaRegistry({ url: 'http://127.0.0.1:1', timeoutMs: 20_000 });
    await expect(registry.idOf('s', {})).rejects.toMatchObject(unavailable);
  });

  it('does not retry what the registry refuses', async () => {
    const { registry } = await build(json(401, { error_code: 40_101, message: 'unauthorized' }));
    await expect(registry.schemaById(4)).rejects.toMatchObject({ code: 'registry_refused', retriable: false });
  });

  it.each(['JSON', 'PROTOBUF'])('says that a %s schema is not Avro', async (schemaType) => {
    const { registry } = await build(json(200, { schema: '{}', schemaType }));
    expect(await registry.schemaById(4)).toMatchObject({ type: 'not_avro' });
  });

  it.each([40_401, 40_403])('returns no id for a schema that is not registered (%d)', async (code) => {
    const { registry } = await build(json(404, { error_code: code, message: 'not found' }));
    expect(await registry.idOf('s', {})).toBeNull();
  });

  it('sends the credentials in a header and removes them from the URL', async () => {
    const { registry, requests } = await build(json(200, { id: 3 }), 'joe:p%40ss@');
    expect(await registry.idOf('s', {})).toBe(3);
    expect(requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('joe:p@ss').toString('base64')}`);
    expect(requests[0]?.headers.host).not.toContain('joe');
  });
});

describe('Registering a schema while another set-up does the same', () => {
  const schema = { type: 'record', name: 'R', namespace: 'n', fields: [] };
  const ruleExists = json(409, { error_code: 409, message: "A rule named 'COMPATIBILITY' already exists." });
  const notFound = json(404, { error_code: 40_401, message: 'not found' });

  function registering(idAfterwards: Answer) {
    let lookups = 0;
    return build((request) => {
      switch (request) {
        case 'POST /subjects/s':
          return lookups++ === 0 ? notFound : idAfterwards;
        case 'POST /subjects/s/versions':
          return json(200, { id: 7 });
        case 'PUT /config/s':
          return ruleExists;
        default:
          return notFound;
      }
    });
  }

  it('is done when the other one has set the rule first', async () => {
    const { registry } = await registering(json(200, { id: 7 }));
    expect(await registry.register('s', schema)).toBe(7);
  });

  it('reports a conflict that leaves the schema unregistered as incompatible', async () => {
    const { registry } = await registering(notFound);
    await expect(registry.register('s', schema)).rejects.toMatchObject({ code: 'schema_incompatible' });
  });

  it('sets the compatibility again when the other one has created the rule meanwhile', async () => {
    const levels: string[] = [];
    const { registry } = await build((request) => {
      levels.push(request);
      return levels.length === 1 ? ruleExists : json(200, { compatibility: 'NONE' });
    });
    await registry.setCompatibility('s', 'NONE');
    expect(levels).toEqual(['PUT /config/s', 'PUT /config/s']);
  });
});
