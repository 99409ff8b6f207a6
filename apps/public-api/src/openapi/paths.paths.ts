import { MAX_ID_LENGTH } from '@waypost/domain';
import { MAX_DEVICE_IDS, MAX_WRITTEN_LENGTH } from '../paths/device-ids.js';
import { PATHS_PATH } from '../paths/path-pages.js';
import type { Parameter, PathItem, Schema } from './openapi-types.js';
import { endDate, limit, pageState, queryParameter, requiredParameter, startDate } from './parameters.js';
import { errors, jsonResponse } from './responses.js';
import { arrayOf, dateTime, nextPageState, objectSchema, reference, text } from './schemas.js';

const number: Schema = { type: 'number' };

const OPTIONAL = [
  'latitude',
  'longitude',
  'speed_in_kmh',
  'heading',
  'ignition',
  'odometer_in_meters',
  'rpm',
  'fuel_level',
];

export const pathSchemas: Readonly<Record<string, Schema>> = {
  PathPoint: objectSchema(
    {
      time: { ...dateTime, description: 'Of the device: UTC, with milliseconds.' },
      latitude: { ...number, description: 'WGS-84 degrees as reported: a place only if `valid`.' },
      longitude: { ...number, description: 'WGS-84 degrees as reported: a place only if `valid`.' },
      speed_in_kmh: number,
      heading: { ...number, minimum: 0, exclusiveMaximum: 360, description: 'Degrees from true north.' },
      ignition: { type: 'boolean', description: 'As this ping reports it.' },
      odometer_in_meters: { type: 'integer' },
      rpm: { type: 'integer' },
      fuel_level: { ...number, description: 'Percent.' },
      valid: { type: 'boolean', description: 'Whether the fix is valid.' },
    },
    OPTIONAL,
  ),
  DevicePath: objectSchema({
    device_id: text,
    points: { ...arrayOf(reference('PathPoint')), minItems: 1, description: 'In the order of their time.' },
  }),
};

const page = objectSchema({ data: arrayOf(reference('DevicePath')), next_page_state: nextPageState });

const deviceIdsFilter: Parameter = {
  ...queryParameter(
    'deviceIds',
    {
      type: 'array',
      items: {
        type: 'string',
        minLength: 1,
        maxLength: MAX_ID_LENGTH,
        pattern: '^[^,\\u0000-\\u001f\\u007f-\\u009f]+$',
      },
      minItems: 1,
      maxItems: MAX_DEVICE_IDS,
    },
    `Only these devices: their ids with a comma between them, all together at most ${String(MAX_WRITTEN_LENGTH)} characters as they stand in the URL. A device whose id holds a comma is found without this filter.`,
  ),
  style: 'form',
  explode: false,
};

export const pathPaths: Readonly<Record<string, PathItem>> = {
  [PATHS_PATH]: {
    get: {
      operationId: 'listPaths',
      summary: 'Paths',
      description:
        'Every accepted ping, late ones in their place, each device and time once. Device by device, in the order of their ids; the points of a device in the order of their time. A device with more points than the page holds goes on at the start of the next.',
      tags: ['Paths'],
      parameters: [
        requiredParameter({
          ...startDate,
          description:
            'Start of the window of event times, inclusive: RFC 3339 with a time zone. Clamped to the retention of 15 days.',
        }),
        requiredParameter(endDate),
        deviceIdsFilter,
        { ...limit, description: 'Most points that a page holds, of all its devices together.' },
        pageState,
      ],
      responses: { '200': jsonResponse('A page of paths.', page), ...errors() },
    },
  },
};
