import { MAX_IDEMPOTENCY_KEY_LENGTH } from '../idempotency/idempotency-key.js';
import { IF_MATCH_PATTERN } from '../concurrency/entity-tag.js';
import type { Parameter, ResponseObject, Schema } from './openapi-types.js';
import { reference, text } from './schemas.js';
import { z } from 'zod';

/** The request bodies are described by what checks them. */
export function bodySchema(schema: z.ZodType): Schema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { target: 'draft-2020-12' });
  return described;
}

export const jsonBody = (name: string): object => ({
  required: true,
  content: { 'application/json': { schema: reference(name) } },
});

export const ifMatch: Parameter = {
  name: 'If-Match',
  in: 'header',
  description:
    'The `ETag` of the version that is to be changed, a list of them, or `*`. When the resource has another version by now, the answer is 412 and nothing is done. Without it the change applies to whatever is there.',
  schema: { type: 'string', pattern: IF_MATCH_PATTERN, examples: ['"3"'] },
};

export const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'An `ETag`: while it is still the current one, the answer is 304 without a body.',
  schema: { type: 'string', examples: ['"418"'] },
};

export const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Any text of your own, such as a UUID. The same request with the same key within 24 hours is carried out once and answered alike, secrets included. Refusals are not kept: they changed nothing. Another request with the same key is answered 422, and one that comes while the first is worked on 409.',
  schema: { type: 'string', minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_LENGTH, pattern: '^[!-~]([ -~]*[!-~])?$' },
};

const etag = {
  ETag: {
    description: 'Of the version that the resource has now: strong, for `If-Match` and `If-None-Match`.',
    required: true,
    schema: { type: 'string', pattern: '^"[1-9][0-9]*"$' },
  },
};

const replayed = {
  'Idempotent-Replayed': {
    description: 'The request was carried out before; this is its answer. Absent otherwise.',
    required: false,
    schema: { ...text, const: 'true' },
  },
};

/** The answer carries the `ETag` of the resource. */
export function withTag(response: ResponseObject): ResponseObject {
  return { ...response, headers: { ...response.headers, ...etag } };
}

/** The answer to a request that may carry an `Idempotency-Key`. */
export function replayable(response: ResponseObject): ResponseObject {
  return { ...response, headers: { ...response.headers, ...replayed } };
}

export const notModified: ResponseObject = withTag({ description: 'The resource is as `If-None-Match` has it.' });
