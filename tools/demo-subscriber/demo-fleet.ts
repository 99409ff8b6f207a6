import type { ApiClient } from '../../apps/cli/src/stack/api-client.js';

const PATH = '/public/v1/geofences';

const RADIUS_M = 480;
/** The simulator's invented city: three by three districts around its center. */
const CENTER = { latitude: 48.7758, longitude: 9.1829 };
const STEP = { latitude: 0.0126, longitude: 0.0191 };
const ROWS = ['South', 'Central', 'North'];
const COLUMNS = ['West', 'Mid', 'East'];

/** Draws the demo fleet's geofences once; those that an earlier run drew are kept. */
export async function ensureGeofences(api: ApiClient): Promise<void> {
  const { data } = (await api.get(PATH, new URLSearchParams({ limit: '1000' }))) as {
    readonly data: readonly { readonly name: string }[];
  };
  const existing = new Set(data.map(({ name }) => name));
  for (const { name, center } of districts()) {
    if (existing.has(name)) continue;
    await api.post(PATH, { name, shape: { type: 'circle', center, radiusInMeters: RADIUS_M } });
  }
}

function districts() {
  return ROWS.flatMap((row, y) =>
    COLUMNS.map((column, x) => ({
      name: `${row} ${column}`,
      center: {
        latitude: CENTER.latitude + (y - 1) * STEP.latitude,
        longitude: CENTER.longitude + (x - 1) * STEP.longitude,
      },
    })),
  );
}
