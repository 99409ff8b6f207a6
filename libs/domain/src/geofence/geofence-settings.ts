/** Thresholds of R-8: the greater margin counts, and either way to leave suffices. */
export interface GeofenceSettings {
  readonly marginInMeters: number;
  readonly marginShare: number;
  readonly leaveFixes: number;
  readonly leaveMs: number;
}

export const DEFAULT_GEOFENCE_SETTINGS: GeofenceSettings = Object.freeze({
  marginInMeters: 20,
  marginShare: 0.1,
  leaveFixes: 2,
  leaveMs: 30_000,
});
