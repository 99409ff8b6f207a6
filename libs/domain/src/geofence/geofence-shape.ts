import type { Geofence } from '../records/geofence.js';
import { CircleShape } from './circle-shape.js';
import { PolygonShape } from './polygon-shape.js';
import type { GeofenceShape } from './shape.js';

const NOWHERE: GeofenceShape = Object.freeze({
  boxes: [],
  radiusInMeters: 0,
  contains: () => false,
  isBeyond: () => true,
});

export function shapeOf(geofence: Pick<Geofence, 'circle' | 'polygon'>): GeofenceShape {
  if (geofenceFault(geofence) !== null) return NOWHERE;
  if (geofence.circle) return new CircleShape(geofence.circle);
  return geofence.polygon ? new PolygonShape(geofence.polygon) : NOWHERE;
}

export function geofenceFault({ circle, polygon }: Pick<Geofence, 'circle' | 'polygon'>): string | null {
  if ((circle === null) === (polygon === null)) return 'either circle or polygon is wanted';
  if (circle) {
    if (!isPlace(circle)) return 'circle is not centered on a place on earth';
    return circle.radiusInMeters > 0 && Number.isFinite(circle.radiusInMeters) ? null : 'radiusInMeters is not above 0';
  }
  const rings = polygon?.rings ?? [];
  if (rings.length === 0) return 'polygon has no outer ring';
  const unclosed = rings.findIndex((ring) => !hasThreePlaces(ring));
  if (unclosed >= 0) return `ring ${String(unclosed)} has fewer than 3 different points`;
  const astray = rings.findIndex((ring) => !ring.every(isPlace));
  return astray >= 0 ? `ring ${String(astray)} has a point that is not on earth` : null;
}

interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

/** False for NaN. */
function isPlace({ latitude, longitude }: Place): boolean {
  return latitude >= -90 && latitude <= 90 && longitude >= -180 && longitude <= 180;
}

function hasThreePlaces(ring: readonly Place[]): boolean {
  const [first] = ring;
  let second: Place | null = null;
  for (const place of ring) {
    if (first === undefined || isSamePlace(place, first)) continue;
    second ??= place;
    if (!isSamePlace(place, second)) return true;
  }
  return false;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a.latitude === b.latitude && a.longitude === b.longitude;
}
