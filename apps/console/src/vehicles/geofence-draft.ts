import type { CreateGeofence, Geofence } from '@waypost/client';
import { type MapPoint, meterOnMap, type Place, placeOf, project } from './mercator.js';

/** A geofence while it is drawn: it need not be one yet. */
export type GeofenceDraft =
  | { readonly type: 'circle'; readonly center: Place | null; readonly radiusInMeters: number }
  | { readonly type: 'polygon'; readonly corners: readonly Place[]; readonly holes: Rings };

type Shape = CreateGeofence['shape'];
type Rings = readonly (readonly (readonly [number, number])[])[];

const FIRST_RADIUS_M = 500;
const MIN_RADIUS_M = 1;
/** A tenth of a meter: no tracker knows better. */
const DIGITS = 1e6;

export function emptyDraft(type: GeofenceDraft['type']): GeofenceDraft {
  return type === 'circle' ? { type, center: null, radiusInMeters: FIRST_RADIUS_M } : { type, corners: [], holes: [] };
}

export function draftOf(shape: Geofence['shape']): GeofenceDraft {
  if (shape.type === 'circle') return shape;
  const [outer = [], ...holes] = shape.coordinates.map((ring) =>
    ring.map(([longitude = 0, latitude = 0]) => [longitude, latitude] as const),
  );
  const corners = outer.map(([longitude, latitude]) => ({ latitude, longitude }));
  return { type: 'polygon', corners: isClosed(corners) ? corners.slice(0, -1) : corners, holes };
}

/** null: it is not a shape yet. Whether a polygon crosses itself is for the API to say. */
export function shapeOf(draft: GeofenceDraft): Shape | null {
  if (draft.type === 'polygon')
    return draft.corners.length < 3
      ? null
      : {
          type: 'polygon',
          coordinates: [draft.corners.map(({ latitude, longitude }) => [longitude, latitude] as const), ...draft.holes],
        };
  const { center, radiusInMeters } = draft;
  return center === null || !(radiusInMeters >= MIN_RADIUS_M) ? null : { type: 'circle', center, radiusInMeters };
}

/** What to do next. */
export function hintOf(draft: GeofenceDraft): string {
  if (draft.type === 'circle')
    return draft.center === null
      ? 'Click on the map to set its center.'
      : 'Drag its center or its edge, or click on another place.';
  const missing = 3 - draft.corners.length;
  if (missing > 0) return `Click on the map to add a corner; ${String(missing)} more at least.`;
  return 'Click to add a corner, drag one to move it.';
}

/** What can be dragged: the center and the edge of a circle, the corners of a polygon. */
export function handlesOf(draft: GeofenceDraft): MapPoint[] {
  if (draft.type === 'polygon') return draft.corners.map(project);
  if (draft.center === null) return [];
  const { x, y } = project(draft.center);
  return [
    { x, y },
    { x: x + draft.radiusInMeters * meterOnMap(draft.center.latitude), y },
  ];
}

export function withHandle(draft: GeofenceDraft, index: number, to: MapPoint): GeofenceDraft {
  const place = rounded(placeOf(to));
  if (draft.type === 'polygon')
    return { ...draft, corners: draft.corners.map((corner, at) => (at === index ? place : corner)) };
  if (draft.center === null || index === 0) return { ...draft, center: place };
  const center = project(draft.center);
  const meters = Math.hypot(to.x - center.x, to.y - center.y) / meterOnMap(draft.center.latitude);
  return { ...draft, radiusInMeters: Math.max(MIN_RADIUS_M, Math.round(meters)) };
}

/** The center, or one corner more: where that makes the shortest way around. */
export function withClick(draft: GeofenceDraft, at: MapPoint): GeofenceDraft {
  const place = rounded(placeOf(at));
  if (draft.type === 'circle') return { ...draft, center: place };
  const points = draft.corners.map(project);
  const index = points.length < 3 ? points.length : shortestAfter(points, at) + 1;
  return { ...draft, corners: draft.corners.toSpliced(index, 0, place) };
}

/** The index of the corner after which a point adds the least length. */
function shortestAfter(points: readonly MapPoint[], at: MapPoint): number {
  const added = points.map((point, index) => {
    const next = points[(index + 1) % points.length] ?? point;
    return distance(point, at) + distance(at, next) - distance(point, next);
  });
  return added.indexOf(Math.min(...added));
}

function distance(a: MapPoint, b: MapPoint): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function isClosed(corners: readonly Place[]): boolean {
  const [first, last] = [corners[0], corners.at(-1)];
  return corners.length > 1 && first?.latitude === last?.latitude && first?.longitude === last?.longitude;
}

function rounded({ latitude, longitude }: Place): Place {
  return { latitude: Math.round(latitude * DIGITS) / DIGITS, longitude: Math.round(longitude * DIGITS) / DIGITS };
}
