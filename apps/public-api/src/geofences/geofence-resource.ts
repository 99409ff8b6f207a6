import { formatTime, type Geofence, type GeofenceCircle, type GeofencePolygon } from '@waypost/domain';
import type { ShapeBody } from './geofence-body.js';

/** A geofence as the API shows it. */
export interface GeofenceResource {
  readonly id: string;
  readonly fleetId: string;
  readonly name: string;
  readonly shape: ShapeResource;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type ShapeResource =
  | {
      readonly type: 'circle';
      readonly center: { readonly latitude: number; readonly longitude: number };
      readonly radiusInMeters: number;
    }
  | {
      readonly type: 'polygon';
      /** Rings of [longitude, latitude], as in GeoJSON. */
      readonly coordinates: readonly (readonly (readonly [number, number])[])[];
    };

export function toGeofenceResource(stored: Geofence): GeofenceResource {
  return {
    id: stored.geofenceId,
    fleetId: stored.fleetId,
    name: stored.name,
    shape: shapeOf(stored),
    version: stored.version,
    createdAt: formatTime(stored.createdAt),
    updatedAt: formatTime(stored.updatedAt),
  };
}

function shapeOf({ circle, polygon }: Geofence): ShapeResource {
  if (circle !== null) {
    const { latitude, longitude, radiusInMeters } = circle;
    return { type: 'circle', center: { latitude, longitude }, radiusInMeters };
  }
  const rings = polygon?.rings ?? [];
  return {
    type: 'polygon',
    coordinates: rings.map((ring) => ring.map(({ latitude, longitude }) => [longitude, latitude] as const)),
  };
}

/** The columns of a shape: one of both is null. */
export function storedShape(shape: ShapeBody): { circle: GeofenceCircle | null; polygon: GeofencePolygon | null } {
  if (shape.type === 'circle') {
    return { circle: { ...shape.center, radiusInMeters: shape.radiusInMeters }, polygon: null };
  }
  const rings = shape.coordinates.map((ring) => ring.map(([longitude, latitude]) => ({ latitude, longitude })));
  return { circle: null, polygon: { rings } };
}
