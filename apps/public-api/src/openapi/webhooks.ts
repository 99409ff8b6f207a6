import {
  DELIVERY_HEADERS,
  type DeliveryHeader,
  eventDataSchema,
  type JsonSchema,
  legacySchema,
  webhookExample,
  webhookSchemas,
  type WebhookType,
} from '@waypost/contracts';
import { ATTEMPT_DEADLINE_MS, DELIVERY_EVENT_TYPES, MAX_ATTEMPTS, MAX_RETRY_DELAY_MS } from '@waypost/domain';
import { durationText } from '../endpoint/prose.js';
import { EXTENSIBLE_ENUM, type Parameter, type PathItem, type Schema } from './openapi.types.js';

/** The bodies of both payload formats as components. They are open: a newer service may add fields. */
export function webhookComponents(): Record<string, Schema> {
  const common = open(eventDataSchema('position'));
  return {
    EventData: common,
    WebhookEvent: union('eventType', (type) => `${pascalCase(type)}Event`, 'Format `v1`.'),
    LegacyWebhookEvent: union('event', (type) => `Legacy${pascalCase(type)}Event`, 'Format `legacy-v1`.'),
    ...Object.fromEntries(DELIVERY_EVENT_TYPES.map((type) => [`${pascalCase(type)}Event`, eventSchema(type)])),
    ...Object.fromEntries(
      DELIVERY_EVENT_TYPES.map((type) => [`Legacy${pascalCase(type)}Event`, open(legacySchema(type))]),
    ),
  };
}

/** What a receiver has to serve. */
export function webhookOperations(): Readonly<Record<string, PathItem>> {
  const bodies = ['WebhookEvent', 'LegacyWebhookEvent'].map(reference);
  return {
    delivery: {
      post: {
        operationId: 'deliverWebhook',
        summary: 'A delivery to the URL of a subscription',
        description:
          'Signed, and delivered at least once: a repeated event has the same id. The subscription defines the format. Verify the signature over the raw body.',
        tags: ['Subscriptions'],
        security: [],
        parameters: Object.entries(DELIVERY_HEADERS).map(headerParameter),
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { oneOf: bodies }, examples: examples() } },
        },
        responses: {
          '2XX': {
            description: `Accepted, if it arrives within ${durationText(ATTEMPT_DEADLINE_MS)}. Also respond with this to unexpected event types.`,
          },
          '429': {
            description: `Retried; \`Retry-After\` lengthens the wait, up to ${durationText(MAX_RETRY_DELAY_MS)}.`,
          },
          '401': {
            description: 'With bearer auth: retried, the first time at once with a new token. Otherwise failed.',
          },
          '4XX': { description: 'Any other: failed, not retried.' },
          '5XX': { description: `Retried, ${String(MAX_ATTEMPTS)} attempts in all. \`Retry-After\` applies to 503.` },
        },
      },
    },
  };
}

function headerParameter([name, { description, schema, isOptional }]: [string, DeliveryHeader]): Parameter {
  return {
    name,
    in: 'header',
    ...(isOptional === true ? {} : { required: true }),
    description,
    schema: asSchema(schema),
  };
}

function examples(): Readonly<Record<string, { readonly value: unknown }>> {
  return Object.fromEntries(
    DELIVERY_EVENT_TYPES.flatMap((type) => [
      [type, { value: webhookExample(type, 'v1') }],
      [`legacy_${type}`, { value: webhookExample(type, 'legacy-v1') }],
    ]),
  );
}

function union(propertyName: string, nameOf: (type: WebhookType) => string, description: string): Schema {
  const mapping = Object.fromEntries(DELIVERY_EVENT_TYPES.map((type) => [type, reference(nameOf(type)).$ref]));
  const oneOf = DELIVERY_EVENT_TYPES.map((type) => reference(nameOf(type)));
  return { description: `${description} New types may be added.`, oneOf, discriminator: { propertyName, mapping } };
}

function eventSchema(type: WebhookType): Schema {
  const { title: description = '', properties = {}, required = [] } = webhookSchemas().get(`${type}.schema.json`) ?? {};
  const eventData = eventDataOf(type);
  return { type: 'object', description, properties: { ...open({ properties }).properties, eventData }, required };
}

function eventDataOf(type: WebhookType): Schema {
  const { properties: common = {} } = eventDataSchema('position');
  const { properties = {}, required = [] } = eventDataSchema(type);
  const own = Object.fromEntries(Object.entries(properties).filter(([name]) => !Object.hasOwn(common, name)));
  if (Object.keys(own).length === 0) return reference('EventData');
  const more = { type: 'object', properties: open({ properties: own }).properties };
  return { allOf: [reference('EventData'), { ...more, required: required.filter((name) => name in own) }] };
}

/** The schema and those within it, without the closing of objects and enumerations; constants with their type. */
function open({ additionalProperties: _, ...given }: JsonSchema): Schema & { readonly properties?: Schema } {
  const { enum: values, ...rest } = given;
  const schema = given.type === 'string' && values !== undefined ? { ...rest, [EXTENSIBLE_ENUM]: values } : given;
  const { properties } = schema;
  return asSchema({
    ...(typeof schema.const === 'string' ? { type: 'string' } : {}),
    ...schema,
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, open(inner)])) }),
  });
}

function asSchema(schema: object): Schema {
  return schema as Schema;
}

function reference(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
