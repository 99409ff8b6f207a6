import { beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi } from '../testing/test-api.js';
import type { OpenApiDocument, Operation, ResponseObject } from './openapi.types.js';

let openApiDocument: OpenApiDocument;
let served: unknown;
let routes: readonly string[];
beforeAll(async () => {
  const api = await startTestApi();
  ({ document: openApiDocument, routes } = api);
  served = (await api.request('/public/openapi.json')).body;
  await api.close();
});

/** Every reference of the document, wherever it stands. */
function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

function resolve(reference: string): unknown {
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], openApiDocument);
}

/** Every object within, and within what it refers to. */
function schemasIn(value: unknown, seen = new Set<unknown>()): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const own = Array.isArray(value) ? [] : [value as Record<string, unknown>];
  const { $ref } = value as { $ref?: unknown };
  const inner = typeof $ref === 'string' ? [resolve($ref)] : Object.values(value);
  return [...own, ...inner.flatMap((one) => schemasIn(one, seen))];
}

describe('the OpenAPI document (R-37)', () => {
  it('has exactly the routes of the running application', () => {
    const documented = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    expect([...routes].sort()).toEqual(documented.sort());
  });

  it('is what the application serves', () => {
    expect(served).toEqual(JSON.parse(JSON.stringify(openApiDocument)));
    expect(served).toHaveProperty('openapi', '3.1.0');
  });

  it('describes every parameter', () => {
    const operations = Object.values(openApiDocument.paths).flatMap((item) => Object.values(item));
    const silent = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters.filter(({ description }) => description === '').map(({ name }) => `${operationId} ${name}`),
    );
    expect(silent).toEqual([]);
  });

  it('closes no object and no enumeration of what the service sends, which may grow (R-43)', () => {
    const sent = Object.values(openApiDocument.paths)
      .flatMap((item) => Object.values(item))
      .flatMap(({ responses }) => Object.values(responses));
    const closed = schemasIn(sent).filter(
      ({ type, enum: values, additionalProperties }) =>
        additionalProperties === false || (type === 'string' && values !== undefined),
    );
    expect(closed).toEqual([]);
  });

  it('closes the objects and enumerations that it takes: what is not known is refused', () => {
    const taken = schemasIn(
      Object.values(openApiDocument.paths)
        .flatMap((item) => Object.values(item))
        .flatMap(({ requestBody, parameters }) => [requestBody, parameters]),
    );
    expect(taken.filter((schema) => 'x-extensible-enum' in schema)).toEqual([]);
    expect(taken.some(({ type, enum: values }) => type === 'string' && values !== undefined)).toBe(true);
    expect(taken.some(({ additionalProperties }) => additionalProperties === false)).toBe(true);
  });

  it('takes an Idempotency-Key on every request that creates something, so that it can be sent again (R-43)', () => {
    const creating = Object.values(openApiDocument.paths)
      .flatMap(({ post }) => (post === undefined ? [] : [post]))
      .filter(({ responses }) => '201' in responses || '202' in responses);
    expect(creating.length).toBeGreaterThan(6);
    const without = creating.filter(
      ({ parameters = [] }) =>
        !parameters.some(({ in: place, name }) => place === 'header' && name === 'Idempotency-Key'),
    );
    expect(without.map(({ operationId }) => operationId)).toEqual([]);
  });

  it('refers only to definitions that it contains', () => {
    const broken = referencesIn(openApiDocument).filter((reference) => resolve(reference) === undefined);
    expect(broken).toEqual([]);
  });

  it('promises the headers of R-32 on every answer of v1 but those that may be given before the path has arrived', () => {
    const responses = openApiDocument.paths['/public/v1/webhook-events']?.get?.responses ?? {};
    const promises = Object.entries(responses).map(([status, response]) => {
      const { headers = {} } = response as ResponseObject;
      const required = ['Deprecation', 'Sunset', 'Link'].map(
        (name) => (headers[name] as { required: boolean }).required,
      );
      return [status, [...new Set(required)]] as const;
    });
    expect(promises.filter(([, required]) => required.includes(false))).toEqual([
      ['408', [false]],
      ['431', [false]],
    ]);
    expect(promises.map(([status]) => status)).toEqual(expect.arrayContaining(['200', '400', '410', '417', '503']));
  });

  it('names the key of an operator, and the fleet that it acts for, wherever it is accepted', () => {
    expect(openApiDocument.security).toEqual([{ apiKey: [] }, { adminKey: [] }]);
    for (const item of Object.values(openApiDocument.paths)) {
      for (const { operationId, security, parameters = [] } of Object.values<Operation>(item)) {
        const isNamed = parameters.some(({ in: place, name }) => place === 'header' && name === 'X-Waypost-Fleet');
        expect([operationId, isNamed]).toEqual([operationId, security === undefined]);
      }
    }
  });

  it('gives every operation a unique name and every path parameter a description', () => {
    const operations = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
      Object.values(item as Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>).map(
        (operation) => ({ ...operation, path }),
      ),
    );
    const names = operations.map((operation) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    for (const { path, parameters = [] } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      expect(parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name)).toEqual(
        inPath,
      );
    }
  });
});
