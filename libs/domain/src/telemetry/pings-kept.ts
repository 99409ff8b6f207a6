/** So long `telemetry.pings` keeps them: what ended earlier is seen by none. */
export const PINGS_KEPT_MS = 16 * 86_400_000;
