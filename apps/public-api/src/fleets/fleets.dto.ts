import { z } from 'zod';
import { type FleetSettings, formatTime, PAYLOAD_FORMATS } from '@waypost/domain';
import { dto } from '../endpoint/dto.js';
import {
  changesSomething,
  dateTime,
  enumText,
  nextPageState,
  oneOf,
  plainText,
  text,
  version,
} from '../endpoint/fields.js';

/** The longest id or name. */
const MAX_LENGTH = 128;

export class CreateFleetDto extends dto(
  z
    .strictObject({
      fleetId: plainText(MAX_LENGTH).meta({
        description:
          'Letters, digits and `.`, `_`, `-`, starting with a letter or digit. It is part of Kafka keys and cannot be changed.',
      }),
      name: plainText(MAX_LENGTH).optional().meta({ description: 'A display name.' }),
      payloadFormat: oneOf(PAYLOAD_FORMATS).default('v1').meta({
        description: 'Default for subscriptions created without a format.',
      }),
      routes: z
        .boolean('must be true or false')
        .default(false)
        .meta({ description: 'Whether its devices produce route and stop events.' }),
    })
    .meta({ id: 'CreateFleet' }),
) {}

export class UpdateFleetDto extends dto(
  z
    .strictObject({
      name: plainText(MAX_LENGTH).nullable().optional().meta({ description: 'A display name; null removes it.' }),
      payloadFormat: oneOf(PAYLOAD_FORMATS).optional().meta({
        description: 'Default for new subscriptions created without a format; existing ones keep theirs.',
      }),
      routes: z
        .boolean('must be true or false')
        .optional()
        .meta({
          description:
            'Whether the devices of the fleet produce events of routes and stops, for pings published from now on. ' +
            'A new subscription to one of these types turns it on.',
        }),
    })
    .refine(changesSomething, 'must change something')
    .meta({ id: 'UpdateFleet', minProperties: 1 }),
) {}

export class FleetDto extends dto(
  z
    .strictObject({
      id: text,
      name: text.optional(),
      payloadFormat: enumText(PAYLOAD_FORMATS).meta({
        description: 'Default for subscriptions created without a format.',
      }),
      routes: z.boolean().meta({ description: 'Whether its devices produce route and stop events.' }),
      version,
      createdAt: dateTime,
      updatedAt: dateTime,
    })
    .meta({ id: 'Fleet' }),
) {}

export function toFleet({ fleetId, name, payloadFormat, routes, ...stored }: FleetSettings): FleetDto {
  return {
    id: fleetId,
    ...(name === null ? {} : { name }),
    payloadFormat,
    routes,
    version: stored.version,
    createdAt: formatTime(stored.createdAt),
    updatedAt: formatTime(stored.updatedAt),
  };
}

export class FleetPathDto extends dto(
  z.object({ fleetId: plainText(MAX_LENGTH).meta({ description: 'The id of the fleet.' }) }),
) {}

export class FleetPageDto extends dto(
  z.strictObject({
    data: z.array(FleetDto.schema),
    nextPageState,
    totals: z
      .strictObject({ fleets: z.int().min(0), subscriptions: z.int().min(0) })
      .optional()
      .meta({ description: 'Totals over all fleets; only on the first page.' }),
  }),
) {}
