import type { GeoBox } from './geo-box.js';

/** A geofence on the ground, prepared for many questions. Places are valid fixes. */
export interface GeofenceShape {
  /** Together they hold every place of the shape. */
  readonly boxes: readonly GeoBox[];
  /** The radius, or that of a circle of the same area. */
  readonly radiusInMeters: number;
  /** A place on the edge is inside. */
  contains(latitude: number, longitude: number): boolean;
  /** Whether a place is outside by more than that. */
  isBeyond(latitude: number, longitude: number, marginInMeters: number): boolean;
}
