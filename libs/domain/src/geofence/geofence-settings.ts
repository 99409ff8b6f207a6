/** The thresholds of R-8. A device is out when it is beyond the edge by the greater of the two margins. */
export interface GeofenceSettings {
  readonly marginInMeters: number;
  /** Of the radius, or of that of a circle of the same area. */
  readonly marginShare: number;
  /** So many valid fixes in a row beyond the margin, */
  readonly leaveFixes: number;
  /** or so long since the first of them, in event time. */
  readonly leaveMs: number;
}

export const DEFAULT_GEOFENCE_SETTINGS: GeofenceSettings = Object.freeze({
  marginInMeters: 20,
  marginShare: 0.1,
  leaveFixes: 2,
  leaveMs: 30_000,
});
