import { joinIds, splitIds } from '../event/join-ids.js';

/** A place on earth, WGS-84 degrees. */
export interface GeoPoint {
  readonly latitude: number;
  readonly longitude: number;
}

export interface GeofenceCircle extends GeoPoint {
  readonly radiusInMeters: number;
}

/** Edges are the shorter way between neighbouring points, straight in degrees; one may cross the antimeridian. */
export interface GeofencePolygon {
  /** The outer ring, then the holes. A ring closes itself: its last point may repeat its first or not. */
  readonly rings: readonly (readonly GeoPoint[])[];
}

/** One version of one geofence of a fleet, as the schema `fleet.geofences-value` has it. */
export interface Geofence {
  readonly geofenceId: string;
  readonly fleetId: string;
  readonly name: string;
  /** Exactly one of circle and polygon is there. */
  readonly circle: GeofenceCircle | null;
  readonly polygon: GeofencePolygon | null;
  /** Counts every change, from 1. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

/** The key of its records in `fleet.geofences`; a tombstone under it deletes the geofence. */
export function geofenceKey({ fleetId, geofenceId }: Pick<Geofence, 'fleetId' | 'geofenceId'>): string {
  return joinIds(fleetId, geofenceId);
}

/** Of which fleet and geofence a key speaks: for tombstones, which say nothing else. */
export function parseGeofenceKey(key: string): Pick<Geofence, 'fleetId' | 'geofenceId'> {
  const [fleetId = '', geofenceId = ''] = splitIds(key);
  return { fleetId, geofenceId };
}
