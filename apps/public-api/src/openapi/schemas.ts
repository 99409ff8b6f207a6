import { DELIVERY_EVENT_TYPES, EVENT_TYPES } from '@waypost/domain';
import type { Schema } from './openapi-types.js';

/** An object whose fields are all required but those named; unknown fields are none of ours. */
export function objectSchema(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

export const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

export const arrayOf = (items: Schema): Schema => ({ type: 'array', items });

export const text: Schema = { type: 'string' };
export const uuid: Schema = { type: 'string', format: 'uuid' };
export const dateTime: Schema = { type: 'string', format: 'date-time', description: 'UTC, with milliseconds.' };
/** What can be subscribed to. */
export const eventType: Schema = { type: 'string', enum: EVENT_TYPES };
export const deliveryEventType: Schema = {
  type: 'string',
  enum: DELIVERY_EVENT_TYPES,
  description: '`test` is an event that was asked for with `/test`.',
};
export const statusCode: Schema = { type: 'integer', minimum: 100, maximum: 999 };
export const attemptNumber: Schema = { type: 'integer', minimum: 1 };
export const durationMs: Schema = { type: 'integer', minimum: 0 };

export const nextPageState: Schema = {
  type: ['string', 'null'],
  description: 'Give it as `pageState` to get the next page; null on the last one. Valid for 24 hours.',
};

export const version: Schema = {
  type: 'integer',
  minimum: 1,
  description: 'Counts every change; the `ETag` has it too.',
};
