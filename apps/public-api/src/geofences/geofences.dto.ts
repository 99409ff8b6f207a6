import { z } from 'zod';
import { formatTime, type Geofence, type GeofenceCircle, type GeofencePolygon } from '@waypost/domain';
import { dto } from '../endpoint/dto.js';
import { changesSomething, dateTime, plainText, text, uuid, uuidText, version } from '../endpoint/fields.js';
import { pageOf } from '../paging/paging.dto.js';
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

const radiusMessage = 'must be a number of meters from 1 to 1000000';
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
        'As in GeoJSON: the outer ring, then the holes; at most 1,000 positions together. The last position of a ring may repeat its first. An edge takes the shorter way around the earth, so a ring may cross the antimeridian; it may not enclose a pole. No edge may touch another except its neighbors, and holes lie inside the outer ring and outside each other.',
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

export type ShapeBody = z.infer<typeof shape>;

export class CreateGeofenceDto extends dto(
  z.strictObject({ name: plainText(MAX_NAME_LENGTH), shape }).meta({ id: 'CreateGeofence' }),
) {}

export class UpdateGeofenceDto extends dto(
  z
    .strictObject({ name: plainText(MAX_NAME_LENGTH).optional(), shape: shape.optional() })
    .refine(changesSomething, 'must change something')
    .meta({ id: 'UpdateGeofence', minProperties: 1 }),
) {}

export class GeofencePathDto extends dto(
  z.object({ id: uuid('There is no such geofence.').meta({ description: 'The id of the geofence.' }) }),
) {}

const shownShape = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('circle'),
    center: z.strictObject({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) }),
    radiusInMeters: z.number(),
  }),
  z.strictObject({
    type: z.literal('polygon'),
    coordinates: z.array(z.array(z.array(z.number()).min(2).max(2))).meta({
      description: 'The outer ring, then the holes: lists of [longitude, latitude], as they were sent.',
    }),
  }),
]);

/** A geofence as the API shows it. */
export class GeofenceDto extends dto(
  z
    .strictObject({
      id: uuidText,
      fleetId: text,
      name: text,
      shape: shownShape,
      version,
      createdAt: dateTime,
      updatedAt: dateTime,
    })
    .meta({ id: 'Geofence' }),
) {}

export class GeofencePageDto extends dto(pageOf(GeofenceDto.schema)) {}

export function toGeofence(stored: Geofence): GeofenceDto {
  return {
    id: stored.geofenceId,
    fleetId: stored.fleetId,
    name: stored.name,
    shape: shownShapeOf(stored),
    version: stored.version,
    createdAt: formatTime(stored.createdAt),
    updatedAt: formatTime(stored.updatedAt),
  };
}

function shownShapeOf({ circle: stored, polygon: other }: Geofence): GeofenceDto['shape'] {
  if (stored !== null) {
    const { latitude: y, longitude: x, radiusInMeters } = stored;
    return { type: 'circle', center: { latitude: y, longitude: x }, radiusInMeters };
  }
  const rings = other?.rings ?? [];
  return {
    type: 'polygon',
    coordinates: rings.map((points) => points.map((point) => [point.longitude, point.latitude])),
  };
}

/** The columns of a shape: one of both is null. */
export function storedShape(given: ShapeBody): { circle: GeofenceCircle | null; polygon: GeofencePolygon | null } {
  if (given.type === 'circle') {
    return { circle: { ...given.center, radiusInMeters: given.radiusInMeters }, polygon: null };
  }
  const rings = given.coordinates.map((points) => points.map(([x, y]) => ({ latitude: y, longitude: x })));
  return { circle: null, polygon: { rings } };
}
