import type { GeoBox } from './geo-box.js';

export interface GeofenceShape {
  readonly boxes: readonly GeoBox[];
  readonly radiusInMeters: number;
  /** A place on the edge is inside. */
  contains(latitude: number, longitude: number): boolean;
  /** Outside by more than the margin. */
  isBeyond(latitude: number, longitude: number, marginInMeters: number): boolean;
}
