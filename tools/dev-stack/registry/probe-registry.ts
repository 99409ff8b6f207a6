import { createSchemaRegistry, type SchemaRegistryOptions } from '@waypost/contracts';

const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json';
const SUBJECT = 'dev-stack.probe';
const SCHEMA = JSON.stringify({ type: 'enum', name: 'DevStackProbe', symbols: ['READY'] });
const TIMEOUT_MS = 10_000;

/** Registers a schema, reads it back by its id and removes its subject. */
export async function probeRegistry(url: string): Promise<void> {
  const subject = `${url}/subjects/${SUBJECT}`;
  const { id } = (await ask(`${subject}/versions`, 'POST', { schema: SCHEMA })) as { id: number };
  await ask(`${url}/schemas/ids/${String(id)}`, 'GET');
  await ask(subject, 'DELETE');
  await ask(`${subject}?permanent=true`, 'DELETE');
}

/** Reaches a registry that is not ours, and leaves nothing in it. */
export async function probeForeignRegistry(registry: SchemaRegistryOptions): Promise<void> {
  await createSchemaRegistry({ ...registry, timeoutMs: TIMEOUT_MS }).schemaById(1);
}

async function ask(address: string, method: string, body?: object): Promise<unknown> {
  const url = new URL(address);
  const credentials =
    url.username === '' ? undefined : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  const response = await fetch(url, {
    method,
    headers: {
      'content-type': CONTENT_TYPE,
      ...(credentials === undefined ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${method} ${url.pathname} answers ${String(response.status)}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}
