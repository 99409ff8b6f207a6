import { createRequire } from 'node:module';
import { describe, expect, it } from '@jest/globals';
import AjvModule from 'ajv';
import addFormatsModule from 'ajv-formats';
import { allTopics, webhookSchemas } from '@waypost/contracts';
import { asyncApiDocument } from './asyncapi-document.js';

const Ajv = AjvModule.default;
const addFormats = addFormatsModule.default;

interface Document {
  readonly channels: Readonly<Record<string, { readonly address: string | null; readonly messages: object }>>;
  readonly components: { readonly messages: Readonly<Record<string, object>> };
}

const document = asyncApiDocument(webhookSchemas());
const { channels, components } = document as Document;

describe('the AsyncAPI document', () => {
  it('is valid by the schema that the AsyncAPI initiative publishes', () => {
    const official = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
    const ajv = new Ajv({ strict: false, meta: false, validateSchema: false });
    addFormats(ajv);
    const validate = ajv.compile(official);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('describes every topic under its name, and the webhooks', () => {
    const addresses = Object.values(channels).map(({ address }) => address);
    expect(new Set(addresses)).toEqual(new Set([...allTopics.map(({ name }) => name), null]));
    expect(Object.keys(channels)).toContain('webhooks');
  });

  it('has a message for each schema of a body', () => {
    expect(Object.keys(components.messages)).toHaveLength(webhookSchemas().size);
  });

  it('refers to nothing that is not in it', () => {
    const references = JSON.stringify(document).match(/"\$ref":"#[^"]+"/g) ?? [];
    expect(references.length).toBeGreaterThan(allTopics.length);
    for (const reference of references) {
      const path = reference.slice('"$ref":"#/'.length, -1).split('/');
      const found = path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
      expect({ reference, found: typeof found }).toEqual({ reference, found: 'object' });
    }
  });
});
