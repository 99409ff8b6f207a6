import { describe, expect, it } from '@jest/globals';
import { startTestApi } from '../testing/test-api.js';
import { openApiDocument } from './document.js';
import { documentedMethods } from './documented-methods.js';
import type { ResponseObject } from './openapi-types.js';

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

describe('the OpenAPI document (R-37)', () => {
  it('has exactly the routes of the running application', async () => {
    const api = await startTestApi();
    const documented = Object.entries(documentedMethods(openApiDocument)).flatMap(([path, methods]) =>
      methods.map((method) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    await api.close();
    expect([...api.routes].sort()).toEqual(documented.sort());
  });

  it('is what the application serves', async () => {
    const api = await startTestApi();
    const answer = await api.request('/public/openapi.json');
    await api.close();
    expect(answer.body).toEqual(JSON.parse(JSON.stringify(openApiDocument)));
    expect(answer.body).toHaveProperty('openapi', '3.1.0');
  });

  it('refers only to what it holds', () => {
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

  it('gives every operation a name of its own and every path parameter a description', () => {
    const operations = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
      Object.values(item as Record<string, { operationId: string; parameters?: { name: string; in: string }[] }>).map(
        (operation) => ({
          ...operation,
          path,
        }),
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
