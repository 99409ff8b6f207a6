import { describe, expect, it } from '@jest/globals';
import { startTestApi } from '../testing/test-api.js';
import { openApiDocument } from './document.js';
import { documentedMethods } from './documented-methods.js';

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

describe('the OpenAPI document', () => {
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
