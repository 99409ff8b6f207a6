import { DELIVERY_EVENT_TYPES } from '@waypost/domain';
import { eventDataSchema, TIME, type WebhookType } from './event-data.js';
import { exactly, type JsonSchema, type Properties } from './json-schema.js';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

export type PublishedSchema = JsonSchema & { readonly $schema: string; readonly $id: string; readonly title: string };

function published(file: string, title: string, schema: JsonSchema): PublishedSchema {
  return { $schema: DIALECT, $id: `urn:waypost:webhooks:${file}`, title, ...schema };
}

/** The body of a delivery in the format v1. */
function envelope(type: WebhookType): JsonSchema {
  return exactly(
    {
      eventId: {
        type: 'string',
        format: 'uuid',
        description: 'The same however often the event is delivered: what a receiver tells repetitions by.',
      },
      eventTime: { ...TIME, description: 'When it happened, by the clock of the device.' },
      eventType: { const: type },
      eventData: eventDataSchema(type),
    },
    ['eventId', 'eventTime', 'eventType', 'eventData'],
  );
}

function number(more: Omit<JsonSchema, 'type'> = {}): JsonSchema {
  return { type: 'number', ...more };
}
function string(more: Omit<JsonSchema, 'type'> = {}): JsonSchema {
  return { type: 'string', ...more };
}

/** Fields of R-14. Those of one kind of event are only in its events. */
const LEGACY: Properties = {
  event_id: string({ format: 'uuid', description: 'As in the format v1.' }),
  event: { type: 'string', enum: DELIVERY_EVENT_TYPES },
  fleet_id: string({ minLength: 1 }),
  device_id: string({ minLength: 1 }),
  timestamp: { type: 'integer', description: 'Epoch milliseconds.' },
  lat: number({ minimum: -90, maximum: 90 }),
  lng: number({ minimum: -180, maximum: 180 }),
  speed: number({ description: 'km/h' }),
  direction: number({ minimum: 0, exclusiveMaximum: 360 }),
  ignition: { type: 'integer', enum: [0, 1] },
  odometer: number({ description: 'km, one decimal' }),
  vehicle_id: string({ minLength: 1 }),
  license_plate: string({ minLength: 1 }),
  driver_id: string({ minLength: 1 }),
  battery: number({ description: 'Volt' }),
  rpm: number(),
  fuel_level: number({ description: 'Percent' }),
  geofence_id: string({ minLength: 1 }),
  geofence_name: string(),
  route_id: string({ format: 'uuid' }),
  activity_id: string({ format: 'uuid' }),
};

const LEGACY_REQUIRED = ['event_id', 'event', 'fleet_id', 'device_id', 'timestamp'];

/** The fields of a resource, by their names in the format v1. */
const LEGACY_RESOURCES: Readonly<Record<string, string>> = {
  geofenceId: 'geofence_id',
  geofenceName: 'geofence_name',
  routeId: 'route_id',
  activityId: 'activity_id',
};

/** File name to schema, for every body that can be delivered. */
export function webhookSchemas(): Map<string, PublishedSchema> {
  const schemas = new Map<string, PublishedSchema>();
  for (const type of DELIVERY_EVENT_TYPES) {
    const file = `${type}.schema.json`;
    schemas.set(file, published(file, `Webhook ${type}, format v1`, envelope(type)));
  }
  const file = 'legacy-v1.schema.json';
  schemas.set(file, published(file, 'Webhook of any type, format legacy-v1', exactly(LEGACY, LEGACY_REQUIRED)));
  return schemas;
}

/** The body of a type in the format legacy-v1, with the resource of the type. */
export function legacySchema(type: WebhookType): JsonSchema {
  const own = Object.keys(eventDataSchema(type).properties ?? {}).map((name) => LEGACY_RESOURCES[name]);
  const others = new Set(Object.values(LEGACY_RESOURCES).filter((name) => !own.includes(name)));
  const properties = Object.fromEntries(Object.entries(LEGACY).filter(([name]) => !others.has(name)));
  const always = own.filter((name) => name !== undefined);
  return exactly({ ...properties, event: { const: type } }, [...LEGACY_REQUIRED, ...always]);
}
