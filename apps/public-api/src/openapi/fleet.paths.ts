import { PAYLOAD_FORMATS } from '@waypost/domain';
import { updateFleetBody } from '../fleets/fleet-body.js';
import { bodySchema, ifMatch, ifNoneMatch, jsonBody, notModified, withTag } from './management.js';
import type { PathItem, Schema } from './openapi-types.js';
import { errors, jsonResponse } from './responses.js';
import { dateTime, objectSchema, reference, text, version } from './schemas.js';

export const fleetSchemas: Readonly<Record<string, Schema>> = {
  Fleet: objectSchema(
    {
      id: text,
      name: text,
      payloadFormat: {
        type: 'string',
        enum: PAYLOAD_FORMATS,
        description: 'Of subscriptions whose creation named none.',
      },
      routes: { type: 'boolean', description: 'Whether its devices make events of routes and stops.' },
      version,
      createdAt: dateTime,
      updatedAt: dateTime,
    },
    ['name'],
  ),
  UpdateFleet: bodySchema(updateFleetBody),
};

const tags = ['Fleet'];

export const fleetPaths: Readonly<Record<string, PathItem>> = {
  '/public/v1/fleet': {
    get: {
      operationId: 'getFleet',
      summary: 'Read the fleet of the API key',
      tags,
      parameters: [ifNoneMatch],
      responses: {
        '200': withTag(jsonResponse('The fleet.', reference('Fleet'))),
        '304': notModified,
        ...errors(404),
      },
    },
    patch: {
      operationId: 'updateFleet',
      summary: 'Change the fleet of the API key',
      description: 'Fields that are left out stay as they are. Subscriptions that are there keep their format.',
      tags,
      parameters: [ifMatch],
      requestBody: jsonBody('UpdateFleet'),
      responses: {
        '200': withTag(jsonResponse('The fleet as it is now.', reference('Fleet'))),
        ...errors(404, 412),
      },
    },
  },
};
