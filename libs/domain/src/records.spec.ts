import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

interface AvroField {
  readonly name: string;
  readonly type: unknown;
}

interface AvroRecord {
  readonly type: string;
  readonly name: string;
  readonly fields: readonly AvroField[];
}

/** The records that cross Kafka: where the schema is, and where our type. */
const records = [
  ['telemetry.pings', 'TelemetryPing', './telemetry/telemetry-ping.ts'],
  ['telemetry-processor.device-state', 'DeviceState', './telemetry/device-state.ts'],
  ['fleet.events', 'FleetEvent', './event/fleet-event.ts'],
  ['fleet.settings', 'FleetSettings', './subscription/fleet-settings.ts'],
  ['webhook.subscriptions', 'WebhookSubscription', './subscription/webhook-subscription.ts'],
  ['webhook.deliveries', 'WebhookDelivery', './delivery/webhook-delivery.ts'],
  ['webhook.attempts', 'WebhookAttempt', './delivery/webhook-attempt.ts'],
] as const;

const isRecord = (type: unknown): type is AvroRecord => (type as AvroRecord).type === 'record';

/** How an Avro type reads in TypeScript. */
function typeText(type: unknown): string {
  if (Array.isArray(type)) {
    const members = type.map(typeText).filter((text) => text !== 'null');
    return [...members, 'null'].join(' | ');
  }
  if (typeof type === 'string') return { long: 'number', int: 'number', double: 'number' }[type] ?? type;
  if (isRecord(type)) return type.name;
  const { type: kind, items, values } = type as { type: string; items?: unknown; values?: unknown };
  if (kind === 'array') return `readonly ${typeText(items)}[]`;
  if (kind === 'map') return `Readonly<Record<string, ${typeText(values)}>>`;
  return typeText(kind);
}

function recordsWithin(type: unknown): AvroRecord[] {
  if (Array.isArray(type)) return type.flatMap(recordsWithin);
  if (type === null || typeof type !== 'object') return [];
  if (isRecord(type)) return [type, ...type.fields.flatMap((field) => recordsWithin(field.type))];
  return recordsWithin((type as { items?: unknown }).items ?? null);
}

/** The fields of an interface in a source file, comments aside. */
function fieldsInSource(source: string, name: string): string[] {
  const body = new RegExp(`export interface ${name} \\{\\n(.*?)\\n\\}`, 's').exec(source)?.[1] ?? '';
  return [...body.matchAll(/^ {2}readonly (\w+): (.+);$/gm)].map(([, field = '', type = '']) => `${field}: ${type}`);
}

describe('the types of the records on Kafka', () => {
  it.each(records)('%s: %s has the fields of its schema, in their order, and no others', (topic, name, file) => {
    const schema: unknown = JSON.parse(
      readFileSync(new URL(`../../../schemas/${topic}-value.avsc`, import.meta.url), 'utf8'),
    );
    const source = readFileSync(new URL(file, import.meta.url), 'utf8');
    const found = recordsWithin(schema);

    expect(found[0]?.name).toBe(name);
    for (const record of found) {
      const expected = record.fields.map((field) => `${field.name}: ${typeText(field.type)}`);
      expect(fieldsInSource(source, record.name)).toEqual(expected);
    }
  });
});
