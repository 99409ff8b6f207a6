import { z } from 'zod';
import { IDEMPOTENCY_KEPT_MS } from '@waypost/management-store';
import { FLEET_HEADER } from '../auth/admin-keys.js';
import type { DtoClass } from '../endpoint/dto.js';
import type { EndpointOptions } from '../endpoint/endpoint.decorator.js';
import { IF_MATCH_PATTERN } from '../endpoint/entity-tag.js';
import type { HandlerParameters } from '../endpoint/handler-parameters.js';
import { durationText } from '../endpoint/prose.js';
import { KEY_PATTERN, MAX_KEY_LENGTH } from '../idempotency/idempotent-requests.js';
import { EXTENSIBLE_ENUM, type Operation, type Parameter, type ResponseObject, type Schema } from './openapi.types.js';
import { REQUEST_EXAMPLES } from './request-examples.js';
import {
  deprecatedResponses,
  type ErrorStatus,
  jsonResponse,
  openErrors,
  rateLimitHeaders,
  requestIdHeader,
  securedErrors,
} from './responses.js';

const ifMatch: Parameter = {
  name: 'If-Match',
  in: 'header',
  description:
    'The `ETag` of the version to change, a list of them, or `*`. If the resource has changed since, the response is 412 and nothing is done. Without it the change applies to the current version.',
  schema: { type: 'string', pattern: IF_MATCH_PATTERN, examples: ['"3"'] },
};

const ifNoneMatch: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  description: 'An `ETag`: if it is still current, the response is 304 without a body.',
  schema: { type: 'string', examples: ['"418"'] },
};

const idempotencyKey: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: `Any text of your own, such as a UUID. The same request with the same key within ${durationText(IDEMPOTENCY_KEPT_MS)} is carried out once and gets the same response, including secrets. Rejections are not kept, because they changed nothing. A different request with the same key gets a 422, and a request that arrives while the first is in progress gets a 409.`,
  schema: { type: 'string', minLength: 1, maxLength: MAX_KEY_LENGTH, pattern: KEY_PATTERN },
};

const lastEventId: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  description:
    'The last id received, with or without an event, from a stream of the same fleet. It is opaque to clients.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]*$' },
};

const actingFor: Parameter = {
  name: FLEET_HEADER,
  in: 'header',
  description:
    'With an admin key: the id of the fleet to act for; required to access the data of a fleet. Ignored with an API key, which belongs to one fleet.',
  schema: { type: 'string' },
};

const etagHeader = {
  ETag: {
    description: 'The strong tag of the current version of the resource, for `If-Match` and `If-None-Match`.',
    required: true,
    schema: { type: 'string', pattern: '^"[1-9][0-9]*"$' },
  },
};

const locationHeader = {
  Location: {
    description: 'The path of the created resource, or of the first if several were created.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
  },
};

const replayedHeader = {
  'Idempotent-Replayed': {
    description: 'The request was carried out before; this is the response to it. Absent otherwise.',
    required: false,
    schema: { type: 'string', const: 'true' },
  },
};

/** Who sends what a schema describes. */
export type Sender = 'client' | 'service';

/** Describes DTO schemas, and collects those with a name as components. */
export interface SchemaCollector {
  /** A schema, or a reference to the component that it has become. */
  describe(schema: z.ZodType, sender: Sender): Schema;
  readonly components: Readonly<Record<string, Schema>>;
}

export function createSchemaCollector(): SchemaCollector {
  const components: Record<string, Schema> = {};
  const inComponents = (schema: unknown): Schema =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Schema;
  return {
    components,
    describe(schema, sender) {
      const name = schema.meta()?.id;
      const {
        $schema: _,
        $defs = {},
        id: _id,
        ...described
      } = z.toJSONSchema(schema, {
        io: 'input',
        override: sender === 'service' ? opened : simplified,
      });
      for (const [known, inner] of Object.entries($defs)) {
        const { id: _known, ...component } = inner;
        components[known] ??= inComponents(component);
      }
      if (name === undefined) return inComponents(described);
      components[name] ??= inComponents(described);
      return { $ref: `#/components/schemas/${name}` };
    },
  };
}

/**
 * The bound that zod gives every integer says nothing to a reader. `items: false` of a tuple, which generators of clients
 * refuse, says no more than its `maxItems`.
 */
function simplified({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.items === false) delete jsonSchema.items;
}

/** What the service sends may gain fields and values: a client that is made of the document must not refuse them. */
function opened(context: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  simplified(context);
  const { jsonSchema } = context;
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.type !== 'string' || jsonSchema.enum === undefined) return;
  jsonSchema[EXTENSIBLE_ENUM] = jsonSchema.enum;
  delete jsonSchema.enum;
}

/** One handler of the API as OpenAPI describes it. */
export function describeOperation(
  options: EndpointOptions,
  { query, params, body }: HandlerParameters,
  method: string,
  collector: SchemaCollector,
): Operation {
  const { operationId, summary, description, tag, scope, portal, deprecated } = options;
  const parameters = [
    ...parametersOf(params, 'path', collector),
    ...parametersOf(query, 'query', collector),
    ...headerParameters(options, method),
  ];
  return defined<Operation>({
    operationId,
    summary,
    description,
    tags: [tag],
    deprecated: deprecated === true ? true : undefined,
    security: securityOf(scope),
    'x-portal-session': scope === null ? undefined : portal,
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: body === null ? undefined : requestBody(operationId, body, collector),
    responses: responsesOf(options, method, collector),
  });
}

/** The fields that have a value: an absent key and one with `undefined` are not the same to those who read documents. */
function defined<T extends object>(fields: { readonly [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/** Undefined: the security of the document, which is an API key. */
function securityOf(scope: EndpointOptions['scope']): Operation['security'] {
  if (scope === null) return [];
  return scope === 'admin' ? [{ adminKey: [] }] : undefined;
}

function headerParameters({ etag, ifMatch: isConditional, ...options }: EndpointOptions, method: string): Parameter[] {
  const parameters: Parameter[] = [];
  if (etag === true && method === 'get') parameters.push(ifNoneMatch);
  if (isConditional === true) parameters.push(ifMatch);
  if (options.idempotencyKey === true) parameters.push(idempotencyKey);
  if (options.lastEventId === true) parameters.push(lastEventId);
  if (options.scope !== null && options.scope !== 'admin') parameters.push(actingFor);
  return parameters;
}

function requestBody(operationId: string, { schema }: DtoClass, collector: SchemaCollector): object {
  const example = REQUEST_EXAMPLES[operationId];
  const content = { schema: collector.describe(schema, 'client'), ...(example === undefined ? {} : { example }) };
  return { required: true, content: { 'application/json': content } };
}

function parametersOf(dto: DtoClass | null, place: 'path' | 'query', collector: SchemaCollector): Parameter[] {
  if (dto === null) return [];
  const { properties = {}, required = [] } = collector.describe(dto.schema, 'client') as {
    properties?: Record<string, Schema & { description?: string; explode?: boolean }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', explode = true, maxWrittenLength: _, ...schema } = property;
    return {
      name,
      in: place,
      ...(place === 'path' || required.includes(name) ? { required: true } : {}),
      description,
      schema,
      ...(schema['type'] === 'array' ? { style: 'form', explode } : {}),
    };
  });
}

function responsesOf(options: EndpointOptions, method: string, collector: SchemaCollector): Operation['responses'] {
  const { response, scope, errors = [], etag } = options;
  const headers = responseHeaders(options);
  const success: Record<string, ResponseObject> = {
    [response.status]: { ...describeResponse(response, collector), headers },
  };
  if (etag === true && method === 'get') success[304] = notModified;
  if (options.deprecated === true) return deprecatedResponses(success);
  if (scope === null) return { ...success, ...openErrors(errors) };
  const own: ErrorStatus[] = [...errors];
  if (options.ifMatch === true) own.push(412);
  if (options.idempotencyKey === true) own.push(409, 422);
  return { ...success, ...securedErrors(own) };
}

function responseHeaders({ response, scope, etag, idempotencyKey: isIdempotent }: EndpointOptions) {
  const headers = { ...requestIdHeader };
  if (scope !== null) Object.assign(headers, rateLimitHeaders);
  if (response.status === 201) Object.assign(headers, locationHeader);
  if (etag !== undefined) Object.assign(headers, etagHeader);
  if (isIdempotent === true) Object.assign(headers, replayedHeader);
  return headers;
}

function describeResponse(
  { description, type, mediaType }: EndpointOptions['response'],
  collector: SchemaCollector,
): ResponseObject {
  if (type === undefined) return { description };
  const schema = collector.describe(type.schema, 'service');
  if (mediaType === undefined) return jsonResponse(description, schema);
  const text = {
    type: 'string',
    description: `Server-sent events; the data of each is a ${String(schema['$ref']).split('/').at(-1) ?? ''}.`,
  };
  return { description, content: { [mediaType]: { schema: text, 'x-event-data': schema } } };
}

const notModified: ResponseObject = {
  description: 'The version of `If-None-Match` is still the current one.',
  headers: { ...requestIdHeader, ...etagHeader },
};
