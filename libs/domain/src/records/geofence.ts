// Generated from schemas/*.avsc by "npm run codegen". Change the schema, not this file.

/** One version of one geofence of a fleet. It has a circle or a polygon; the other is null. A tombstone deletes it. */
export interface Geofence {
  readonly geofenceId: string;
  readonly fleetId: string;
  readonly name: string;
  readonly circle: GeofenceCircle | null;
  readonly polygon: GeofencePolygon | null;
  /** Starts at 1 and grows with every change of the geofence. */
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
  /** The outer ring, then the holes. The last point of a ring may repeat the first. */
  readonly rings: readonly (readonly GeoPoint[])[];
}

export interface GeoPoint {
  /** WGS-84 degrees. */
  readonly latitude: number;
  /** WGS-84 degrees. */
  readonly longitude: number;
}
