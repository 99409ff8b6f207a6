import { createApiKeyBody } from '../api-keys/api-key-body.js';
import { bodySchema, idempotencyKey, jsonBody, replayable } from './management.js';
import type { PathItem, Schema } from './openapi-types.js';
import { idOf, listLimit, pageState } from './parameters.js';
import { errors, jsonResponse } from './responses.js';
import { arrayOf, dateTime, nextPageState, objectSchema, reference, text, uuid } from './schemas.js';

const fields = {
  id: uuid,
  name: text,
  prefix: { ...text, description: 'The first characters of the key; absent of keys of earlier versions.' },
  scopes: arrayOf(text),
  createdAt: dateTime,
  revokedAt: { ...dateTime, description: 'Only of a revoked key.' },
};
const optional = ['name', 'prefix', 'revokedAt'];

const key: Schema = {
  type: 'string',
  pattern: '^wp_[A-Za-z0-9_-]{43}$',
  description: 'The key. It is shown here and never again.',
};

export const apiKeySchemas: Readonly<Record<string, Schema>> = {
  ApiKey: objectSchema(fields, optional),
  ApiKeyWithKey: objectSchema({ ...fields, key }, optional),
  CreateApiKey: bodySchema(createApiKeyBody),
};

const PATH = '/public/v1/api-keys';
const tags = ['Fleet'];
const listed = objectSchema({ data: arrayOf(reference('ApiKey')), nextPageState });

export const apiKeyPaths: Readonly<Record<string, PathItem>> = {
  [PATH]: {
    post: {
      operationId: 'createApiKey',
      summary: 'Make an API key',
      description:
        'For the fleet of the key that asks, with scopes that this key has itself: any other is answered 403.',
      tags,
      parameters: [idempotencyKey],
      requestBody: jsonBody('CreateApiKey'),
      responses: {
        '201': replayable(jsonResponse('The key. It works at once.', reference('ApiKeyWithKey'))),
        ...errors(404, 409, 422),
      },
    },
    get: {
      operationId: 'listApiKeys',
      summary: 'List API keys, oldest first, revoked ones too',
      tags,
      parameters: [listLimit, pageState],
      responses: { '200': jsonResponse('A page of API keys.', listed), ...errors() },
    },
  },
  [`${PATH}/{id}`]: {
    delete: {
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description:
        'For good; it may be the key that asks. Processes that have just let the key in may do so for 3 seconds more. Revoking again changes nothing.',
      tags,
      parameters: [idOf('API key')],
      responses: { '204': { description: 'It is revoked.' }, ...errors(404) },
    },
  },
};
