import { createGeofenceBody, updateGeofenceBody } from '../geofences/geofence-body.js';
import {
  bodySchema,
  idempotencyKey,
  ifMatch,
  ifNoneMatch,
  jsonBody,
  notModified,
  replayable,
  withTag,
} from './management.js';
import type { PathItem, Schema } from './openapi-types.js';
import { idOf, listLimit, pageState } from './parameters.js';
import { errors, jsonResponse } from './responses.js';
import { arrayOf, dateTime, nextPageState, objectSchema, reference, text, uuid, version } from './schemas.js';

const degrees = (limit: number): Schema => ({ type: 'number', minimum: -limit, maximum: limit });

const circle = objectSchema({
  type: { type: 'string', const: 'circle' },
  center: objectSchema({ latitude: degrees(90), longitude: degrees(180) }),
  radiusInMeters: { type: 'number' },
});
const polygon = objectSchema({
  type: { type: 'string', const: 'polygon' },
  coordinates: {
    ...arrayOf(arrayOf({ ...arrayOf({ type: 'number' }), minItems: 2, maxItems: 2 })),
    description: 'The outer ring, then the holes: lists of [longitude, latitude], as they were given.',
  },
});

export const geofenceSchemas: Readonly<Record<string, Schema>> = {
  Geofence: objectSchema({
    id: uuid,
    fleetId: text,
    name: text,
    shape: { oneOf: [circle, polygon] },
    version,
    createdAt: dateTime,
    updatedAt: dateTime,
  }),
  CreateGeofence: bodySchema(createGeofenceBody),
  UpdateGeofence: bodySchema(updateGeofenceBody),
};

const PATH = '/public/v1/geofences';
const id = idOf('geofence');
const tags = ['Geofences'];
const listed = objectSchema({ data: arrayOf(reference('Geofence')), nextPageState });

export const geofencePaths: Readonly<Record<string, PathItem>> = {
  [PATH]: {
    post: {
      operationId: 'createGeofence',
      summary: 'Make a geofence',
      description:
        'A circle or a polygon. Vehicles that are inside when it is made send no event before they leave it. A fleet may have 10,000 geofences.',
      tags,
      parameters: [idempotencyKey],
      requestBody: jsonBody('CreateGeofence'),
      responses: {
        '201': withTag(replayable(jsonResponse('The geofence.', reference('Geofence')))),
        ...errors(404, 409, 422),
      },
    },
    get: {
      operationId: 'listGeofences',
      summary: 'List geofences, oldest first',
      tags,
      parameters: [listLimit, pageState],
      responses: { '200': jsonResponse('A page of geofences.', listed), ...errors() },
    },
  },
  [`${PATH}/{id}`]: {
    get: {
      operationId: 'getGeofence',
      summary: 'Read a geofence',
      tags,
      parameters: [id, ifNoneMatch],
      responses: {
        '200': withTag(jsonResponse('The geofence.', reference('Geofence'))),
        '304': notModified,
        ...errors(404),
      },
    },
    patch: {
      operationId: 'updateGeofence',
      summary: 'Change a geofence',
      description: 'Fields that are left out stay as they are; `shape` is replaced as a whole.',
      tags,
      parameters: [id, ifMatch],
      requestBody: jsonBody('UpdateGeofence'),
      responses: {
        '200': withTag(jsonResponse('The geofence as it is now.', reference('Geofence'))),
        ...errors(404, 412),
      },
    },
    delete: {
      operationId: 'deleteGeofence',
      summary: 'Delete a geofence',
      tags,
      parameters: [id, ifMatch],
      responses: { '204': { description: 'It is gone.' }, ...errors(404, 412) },
    },
  },
};
