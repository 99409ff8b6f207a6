import { PAYLOAD_FORMATS } from '@waypost/domain';
import { z } from 'zod';
import { plainText } from '../request-body/read-body.js';

const MAX_NAME_LENGTH = 128;

export const updateFleetBody = z
  .strictObject({
    name: plainText(MAX_NAME_LENGTH).nullable().optional().meta({ description: 'For people; null takes it away.' }),
    payloadFormat: z
      .enum(PAYLOAD_FORMATS, `must be one of ${PAYLOAD_FORMATS.join(', ')}`)
      .optional()
      .meta({
        description: 'Of subscriptions that are made from now on and name none; those that are there keep theirs.',
      }),
    routes: z
      .boolean('must be true or false')
      .optional()
      .meta({
        description:
          'Whether the devices of the fleet make events of routes and stops, for pings that are published from now on. ' +
          'A new subscription to one of these types turns it on.',
      }),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something')
  .meta({ minProperties: 1 });
