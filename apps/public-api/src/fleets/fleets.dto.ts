import { z } from 'zod';
import { PAYLOAD_FORMATS } from '@waypost/domain';
import { dto } from '../endpoint/dto.js';
import { nextPageState, oneOf, plainText } from '../endpoint/fields.js';
import { FleetDto } from './fleet.dto.js';

const MAX_LENGTH = 128;

export class CreateFleetDto extends dto(
  z
    .strictObject({
      fleetId: plainText(MAX_LENGTH).meta({
        description: 'A-Z a-z 0-9 . _ - with a letter or digit first. It is part of Kafka keys and cannot be changed.',
      }),
      name: plainText(MAX_LENGTH).optional().meta({ description: 'For people.' }),
      payloadFormat: oneOf(PAYLOAD_FORMATS).default('v1').meta({
        description: 'For subscriptions that are created without a format.',
      }),
      routes: z
        .boolean('must be true or false')
        .default(false)
        .meta({ description: 'Whether its devices produce events of routes and stops.' }),
    })
    .meta({ id: 'CreateFleet' }),
) {}

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
      .meta({ description: 'Of all fleets; only on the first page.' }),
  }),
) {}
