import { ERROR_CODES } from '../errors/api-error.js';
import { DEPRECATION_HEADERS } from '../v1-history/deprecation.middleware.js';
import type { Reference, ResponseObject, Schema } from './openapi-types.js';
import { arrayOf, objectSchema, reference, text } from './schemas.js';

const detail = objectSchema(
  {
    parameter: { type: 'string', description: 'The query parameter that is wrong.' },
    header: { type: 'string', description: 'The request header that is wrong.' },
    field: { type: 'string', description: 'The field of the body that is wrong, as a path.' },
    conflictingId: { type: 'string', description: 'The id of what is in the way.' },
    message: text,
  },
  ['parameter', 'header', 'field', 'conflictingId'],
);

export const errorSchema: Schema = objectSchema({
  error: objectSchema({ code: { type: 'string', enum: ERROR_CODES }, message: text, details: arrayOf(detail) }, [
    'details',
  ]),
});

export function jsonResponse(description: string, schema: Schema): ResponseObject {
  return { description, content: { 'application/json': { schema } } };
}

function errorResponse(description: string, headers?: ResponseObject['headers']): ResponseObject {
  return { ...jsonResponse(description, reference('Error')), ...(headers === undefined ? {} : { headers }) };
}

const retryAfter = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } } };
const challenge = { 'WWW-Authenticate': { description: 'How to authenticate.', schema: text } };
const currentTag = { ETag: { description: 'Of the version that is there.', required: true, schema: text } };
const allow = { Allow: { description: 'The methods that are possible.', schema: text } };

/** Every error answer, by status. */
export const ERROR_RESPONSES = {
  400: errorResponse('A parameter, a header, the body or the page token cannot be used; the message names it.'),
  401: errorResponse('No API key, or one that is not known.', challenge),
  403: errorResponse('The API key lacks a scope.', challenge),
  404: errorResponse('There is nothing there, or it belongs to another fleet.'),
  405: errorResponse('This method is not possible here.', allow),
  408: errorResponse('The request did not arrive in time.'),
  409: errorResponse('The change collides with what is there.'),
  410: errorResponse('This resource has been removed.'),
  412: errorResponse('The resource has another version than `If-Match` says; nothing was done.', currentTag),
  413: errorResponse('The body is larger than 100 KB.'),
  414: errorResponse('The path and the query are longer than 8,192 characters.'),
  415: errorResponse('The body is not JSON.'),
  417: errorResponse('An expectation other than `100-continue`.'),
  422: errorResponse('The `Idempotency-Key` was used for another request.'),
  429: errorResponse('This API key calls too often, or this address without a valid one.', retryAfter),
  431: errorResponse('The request line and the headers are longer than 16 KB together.'),
  500: errorResponse('The service failed.'),
  503: errorResponse('The service cannot answer right now.', retryAfter),
} as const satisfies Readonly<Record<number, ResponseObject>>;

type ErrorStatus = keyof typeof ERROR_RESPONSES;

/** What any route behind an API key can answer. */
const ANYWHERE = [400, 401, 403, 405, 408, 413, 414, 415, 417, 429, 431, 500, 503] as const;

/** What any route behind an API key can answer, and what this one can beside that. */
export function errors(...more: readonly ErrorStatus[]): Record<string, Reference> {
  return referencesTo([...ANYWHERE, ...more]);
}

/** What a route can answer that is open to anybody. */
export function openErrors(): Record<string, Reference> {
  return referencesTo(ANYWHERE.filter((status) => ![401, 403, 503].includes(status)));
}

function referencesTo(statuses: readonly ErrorStatus[]): Record<string, Reference> {
  return Object.fromEntries(
    [...statuses]
      .sort((a, b) => a - b)
      .map((status) => [String(status), { $ref: `#/components/responses/Error${String(status)}` }]),
  );
}

/** Given before all of the head has arrived, so that what was asked for may be unknown. */
const EARLY = ['408', '431'];

function deprecationHeaders(status: string): Record<string, object> {
  const isEarly = EARLY.includes(status);
  const description = `Of every answer here (RFC 8594)${isEarly ? '; absent when the path had not arrived' : ''}.`;
  return Object.fromEntries(
    Object.entries(DEPRECATION_HEADERS).map(([name, value]) => [
      name,
      { description, required: !isEarly, schema: { type: 'string', const: value } },
    ]),
  );
}

/** The same answers with the headers of R-32. */
export function deprecatedResponses(responses: Record<string, ResponseObject>): Record<string, ResponseObject> {
  const statuses: ErrorStatus[] = [...ANYWHERE, 410];
  const all = {
    ...responses,
    ...Object.fromEntries(statuses.map((status) => [String(status), ERROR_RESPONSES[status]])),
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, response]) => [
      status,
      { ...response, headers: { ...response.headers, ...deprecationHeaders(status) } },
    ]),
  );
}
