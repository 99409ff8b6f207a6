// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One version of one geofence of a fleet: a circle or a polygon, the other is null. A deleted one is a tombstone. */
export interface Geofence {
  readonly geofenceId: string;
  readonly fleetId: string;
  readonly name: string;
  readonly circle: GeofenceCircle | null;
  readonly polygon: GeofencePolygon | null;
  /** Counts every change of this geofence, from 1. */
  readonly version: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

export interface GeofenceCircle {
  /** WGS-84 degrees. */
  readonly latitude: number;
  /** WGS-84 degrees. */
  readonly longitude: number;
  readonly radiusInMeters: number;
}

export interface GeofencePolygon {
  /** The outer ring, then the holes. A ring closes itself: its last point may repeat its first or not. */
  readonly rings: readonly (readonly GeoPoint[])[];
}

export interface GeoPoint {
  /** WGS-84 degrees. */
  readonly latitude: number;
  /** WGS-84 degrees. */
  readonly longitude: number;
}
