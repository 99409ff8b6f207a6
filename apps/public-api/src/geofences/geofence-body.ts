import { z } from 'zod';
import { plainText } from '../request-body/read-body.js';
import { MAX_POSITIONS, polygonFault } from './polygon-fault.js';

const MAX_NAME_LENGTH = 128;
const MIN_RADIUS_M = 1;
const MAX_RADIUS_M = 1_000_000;

function degrees(limit: number) {
  const message = `must be a number of degrees from -${String(limit)} to ${String(limit)}`;
  return z.number(message).min(-limit, message).max(limit, message);
}
const latitude = degrees(90);
const longitude = degrees(180);

const radiusMessage = 'must be a number of metres from 1 to 1000000';
const circle = z.strictObject({
  type: z.literal('circle'),
  center: z.strictObject({ latitude, longitude }),
  radiusInMeters: z.number(radiusMessage).min(MIN_RADIUS_M, radiusMessage).max(MAX_RADIUS_M, radiusMessage),
});

/** As in GeoJSON. */
const position = z
  .tuple([longitude, latitude], 'must be [longitude, latitude]')
  .meta({ items: false, minItems: 2, maxItems: 2, description: '[longitude, latitude], WGS-84 degrees.' });
const ring = z
  .array(position, 'must be a list of positions')
  .min(3, { error: 'must have at least 3 positions', abort: true })
  .max(MAX_POSITIONS + 1, { error: `must have at most ${String(MAX_POSITIONS)} positions`, abort: true });

const polygon = z
  .strictObject({
    type: z.literal('polygon'),
    coordinates: z.array(ring, 'must be a list of rings').min(1, 'must have an outer ring').meta({
      description:
        'As in GeoJSON: the outer ring, then the holes; at most 1,000 positions together. The last position of a ring may repeat its first or not. An edge goes the shorter way round the earth, so a ring may cross the antimeridian; it may not go round a pole. No edge may touch another except its neighbours, and holes lie inside the outer ring and outside each other.',
    }),
  })
  .superRefine(({ coordinates }, context) => {
    const fault = polygonFault(coordinates);
    if (fault === null) return;
    context.addIssue({ code: 'custom', path: ['coordinates', ...fault.path], message: fault.message });
  });

const shape = z.discriminatedUnion('type', [circle, polygon], {
  error: 'must be {"type":"circle", center, radiusInMeters} or {"type":"polygon", coordinates}',
});

export const createGeofenceBody = z.strictObject({ name: plainText(MAX_NAME_LENGTH), shape });

export const updateGeofenceBody = z
  .strictObject({ name: plainText(MAX_NAME_LENGTH).optional(), shape: shape.optional() })
  .refine((body) => Object.keys(body).length > 0, 'must change something')
  .meta({ minProperties: 1 });

export type ShapeBody = z.infer<typeof shape>;
