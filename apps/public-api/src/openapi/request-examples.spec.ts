import { beforeAll, describe, expect, it } from '@jest/globals';
import Ajv2020Module from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { startTestApi } from '../testing/test-api.js';
import type { OpenApiDocument } from './openapi.types.js';
import { REQUEST_EXAMPLES } from './request-examples.js';

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: object; readonly example?: unknown } };
}

let document: OpenApiDocument;
beforeAll(async () => {
  const api = await startTestApi();
  ({ document } = api);
  await api.close();
});

describe('the examples of request bodies (R-43)', () => {
  it.each(Object.keys(REQUEST_EXAMPLES))('have a valid one for %s', (operationId) => {
    const ajv = new Ajv2020Module.default({ strict: false, allErrors: true });
    addFormatsModule.default(ajv);
    ajv.addSchema(document);
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    const body = operations.find((operation) => operation.operationId === operationId)?.requestBody as Body | undefined;
    const { schema, example } = body?.content['application/json'] ?? { schema: { not: {} } };
    expect(example).toEqual(REQUEST_EXAMPLES[operationId]);
    const validate = ajv.compile({ ...schema, components: document.components });
    validate(example);
    expect(validate.errors ?? []).toEqual([]);
  });
});
