import { z } from 'zod';
import { countText } from '../endpoint/prose.js';
import { ERROR_CODES } from '../errors/api-error.js';
import { DEPRECATION_HEADERS } from '../http/deprecation.middleware.js';
import { MAX_URL_LENGTH } from '../http/request-refusals.middleware.js';
import { MAX_HEADER_SIZE } from '../http/server-limits.js';
import type { Reference, ResponseObject, Schema } from './openapi.types.js';

const detail = z.strictObject({
  parameter: z.string().optional().meta({ description: 'The invalid query parameter.' }),
  header: z.string().optional().meta({ description: 'The invalid request header.' }),
  field: z.string().optional().meta({ description: 'The invalid field of the body, as a path.' }),
  conflictingId: z.string().optional().meta({ description: 'The id of the conflicting resource.' }),
  limit: z.int().optional().meta({ description: 'The limit of the fleet.' }),
  current: z.int().optional().meta({ description: 'What the fleet has now.' }),
  message: z.string(),
});

/** On every response. */
export const requestIdHeader = {
  'X-Request-Id': { description: 'The id of the request.', required: true, schema: { type: 'string', format: 'uuid' } },
};

/** On every response to an API key. */
export const rateLimitHeaders = {
  'RateLimit-Policy': {
    description: 'The limit of the API key: a burst of `q` requests, refilled over `w` seconds.',
    required: true,
    schema: { type: 'string', examples: ['"key";q=200;w=2'] },
  },
  RateLimit: {
    description: 'What is left: `r` requests now, the full burst in `t` seconds.',
    required: true,
    schema: { type: 'string', examples: ['"key";r=198;t=1'] },
  },
};

/** An error may come before the key is known. */
const rateLimitOfErrors = Object.fromEntries(
  Object.entries(rateLimitHeaders).map(([name, header]) => [
    name,
    { ...header, required: false, description: `${header.description} Absent when no API key was accepted.` },
  ]),
);

/** The body of every error response. */
export const errorSchema = z.strictObject({
  error: z.strictObject({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    details: z.array(detail).optional(),
    requestId: z
      .string()
      .meta({ description: 'The id of the request, as in `X-Request-Id`: include it when you ask for help.' }),
  }),
});

export function jsonResponse(description: string, schema: Schema): ResponseObject {
  return { description, content: { 'application/json': { schema } } };
}

function errorResponse(description: string, headers?: ResponseObject['headers']): ResponseObject {
  return {
    ...jsonResponse(description, { $ref: '#/components/schemas/Error' }),
    headers: { ...headers, ...requestIdHeader, ...rateLimitOfErrors },
  };
}

const retryAfter = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } } };
const challenge = { 'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } } };
const currentTag = {
  ETag: { description: 'The tag of the current version.', required: true, schema: { type: 'string' } },
};
const allow = { Allow: { description: 'The methods that this path supports.', schema: { type: 'string' } } };

/** Every error response, by status. */
export const ERROR_RESPONSES = {
  400: errorResponse('A parameter, a header, the body or the page token is invalid; the message names it.'),
  401: errorResponse('No API key, or an unknown one.', challenge),
  403: errorResponse('The API key lacks a scope, or the portal session is not allowed to do this.', challenge),
  404: errorResponse('The resource does not exist, or belongs to another fleet.'),
  405: errorResponse('This path does not support the method.', allow),
  408: errorResponse('The request did not arrive in time.'),
  409: errorResponse('The change conflicts with the current state.'),
  410: errorResponse('This resource has been removed.'),
  412: errorResponse('The version of the resource does not match `If-Match`; nothing was done.', currentTag),
  413: errorResponse('The body is larger than 100 KB.'),
  414: errorResponse(`The path and the query are longer than ${countText(MAX_URL_LENGTH)} characters.`),
  415: errorResponse('The body is not JSON.'),
  417: errorResponse('An expectation other than `100-continue`.'),
  422: errorResponse('The `Idempotency-Key` was used for another request.'),
  429: errorResponse(
    'This API key sends too many requests or leaves too many responses unread, or this address does so without a valid key; or the fleet has too many requests in progress.',
    retryAfter,
  ),
  431: errorResponse(`The request line and the headers are longer than ${MAX_HEADER_SIZE} together.`),
  500: errorResponse('The service failed.'),
  503: errorResponse('The service is temporarily unavailable.', retryAfter),
} as const satisfies Readonly<Record<number, ResponseObject>>;

export type ErrorStatus = keyof typeof ERROR_RESPONSES;

/** Errors that any endpoint behind an API key can respond with. */
const COMMON_ERRORS = [400, 401, 403, 405, 408, 413, 414, 415, 417, 429, 431, 500, 503] as const;

/** The errors of an endpoint behind an API key: the common ones and its own. */
export function securedErrors(own: readonly ErrorStatus[]): Record<string, Reference> {
  return referencesTo([...COMMON_ERRORS, ...own]);
}

/** The errors of an endpoint that is open to anyone. */
export function openErrors(own: readonly ErrorStatus[]): Record<string, Reference> {
  return referencesTo([...COMMON_ERRORS.filter((status) => status !== 401 && status !== 403), ...own]);
}

function referencesTo(statuses: readonly ErrorStatus[]): Record<string, Reference> {
  const inOrder = [...new Set(statuses)].sort((a, b) => a - b).map(String);
  return Object.fromEntries(inOrder.map((status) => [status, { $ref: `#/components/responses/Error${status}` }]));
}

/** Sent before the whole head has arrived, when the path may be unknown. */
const EARLY = ['408', '431'];

function deprecationHeaders(status: string): Record<string, object> {
  const isEarly = EARLY.includes(status);
  const description = `On every response of this path (RFC 8594)${isEarly ? '; absent if the path had not arrived' : ''}.`;
  return Object.fromEntries(
    Object.entries(DEPRECATION_HEADERS).map(([name, value]) => [
      name,
      { description, required: !isEarly, schema: { type: 'string', const: value } },
    ]),
  );
}

/** The success and all errors of a v1 endpoint, with the headers of R-32. */
export function deprecatedResponses(success: Record<string, ResponseObject>): Record<string, ResponseObject> {
  const statuses: ErrorStatus[] = [...COMMON_ERRORS, 410];
  const all = {
    ...success,
    ...Object.fromEntries(statuses.map((status) => [String(status), ERROR_RESPONSES[status]])),
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, response]) => [
      status,
      { ...response, headers: { ...response.headers, ...deprecationHeaders(status) } },
    ]),
  );
}
