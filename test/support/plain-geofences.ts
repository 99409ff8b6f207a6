/**
 * R-8 a second time, as plainly as it is written, by looking at every record of the log for every ping. It shares no
 * code with the product, so that a mistake in one of them shows. Circles, and rectangles along the meridians.
 */
export type PlainShape =
  | { readonly type: 'circle'; readonly latitude: number; readonly longitude: number; readonly radius: number }
  | {
      readonly type: 'rectangle';
      readonly south: number;
      readonly north: number;
      readonly west: number;
      readonly east: number;
    };

/** A record of `fleet.geofences`; a shape of null deletes. */
export interface PlainFenceRecord {
  readonly appendedAt: number;
  readonly geofenceId: string;
  readonly shape: PlainShape | null;
}

/** An accepted ping with a valid fix. */
export interface PlainFix {
  readonly appendedAt: number;
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
}

export interface PlainGeofenceEvent {
  readonly type: 'geofence_in' | 'geofence_out';
  readonly geofenceId: string;
  readonly time: number;
  /** Of geofence_out; undefined: unknown. */
  readonly enteredAt?: number;
}

/** Where a device is inside; with the fixes beyond the margin since the last one that was not. */
export interface Inside {
  readonly enteredAt: number | undefined;
  beyond: number[];
}

const earthRadius = 6_371_008.8;
function rad(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
const perDegree = rad(1) * earthRadius;

/** The events of each fix, in order. `inside` is where the device is in the end, by geofenceId. */
export function plainGeofences(
  log: readonly PlainFenceRecord[],
  fixes: readonly PlainFix[],
  inside = new Map<string, Inside>(),
): PlainGeofenceEvent[][] {
  let lastSeen: number | undefined;
  return fixes.map((fix) => {
    const outs: PlainGeofenceEvent[] = [];
    const ins: PlainGeofenceEvent[] = [];
    const ids = [...new Set([...log.map(({ geofenceId }) => geofenceId), ...inside.keys()])].sort();
    for (const geofenceId of ids) {
      const visible = log.filter((record) => record.geofenceId === geofenceId && record.appendedAt <= fix.appendedAt);
      const shape = visible.at(-1)?.shape ?? null;
      const birth = visible.slice(visible.findLastIndex((record) => record.shape === null) + 1)[0]?.appendedAt;
      const isNew = lastSeen === undefined || birth === undefined || birth > lastSeen;
      if (shape === null || isNew) inside.delete(geofenceId);
      if (shape === null) continue;
      const visit = inside.get(geofenceId);
      const out = metersOutside(shape, fix);
      if (visit === undefined) {
        if (out > 0) continue;
        inside.set(geofenceId, { enteredAt: isNew ? undefined : fix.time, beyond: [] });
        if (!isNew) ins.push({ type: 'geofence_in', geofenceId, time: fix.time });
        continue;
      }
      if (out <= Math.max(20, equivalentRadius(shape) / 10)) visit.beyond = [];
      else visit.beyond.push(fix.time);
      const [first] = visit.beyond;
      if (first === undefined || (visit.beyond.length < 2 && fix.time - first < 30_000)) continue;
      inside.delete(geofenceId);
      const { enteredAt } = visit;
      outs.push({
        type: 'geofence_out',
        geofenceId,
        time: fix.time,
        ...(enteredAt === undefined ? {} : { enteredAt }),
      });
    }
    lastSeen = fix.appendedAt;
    return [...outs, ...ins];
  });
}

/** 0: inside or on the edge. */
function metersOutside(shape: PlainShape, { latitude, longitude }: PlainFix): number {
  if (shape.type === 'circle') {
    return Math.max(0, angleBetween(shape.latitude, shape.longitude, latitude, longitude) * earthRadius - shape.radius);
  }
  const north = Math.max(0, shape.south - latitude, latitude - shape.north) * perDegree;
  const east = Math.max(0, shape.west - longitude, longitude - shape.east) * perDegree * Math.cos(rad(latitude));
  return Math.hypot(north, east);
}

function equivalentRadius(shape: PlainShape): number {
  if (shape.type === 'circle') return shape.radius;
  const { south, north, west, east } = shape;
  const area = (Math.sin(rad(north)) - Math.sin(rad(south))) * rad(east - west) * earthRadius ** 2;
  return Math.sqrt(area / Math.PI);
}

/** By the directions from the middle of the earth. */
function angleBetween(latitudeA: number, longitudeA: number, latitudeB: number, longitudeB: number): number {
  const direction = (latitude: number, longitude: number): [number, number, number] => [
    Math.cos(rad(latitude)) * Math.cos(rad(longitude)),
    Math.cos(rad(latitude)) * Math.sin(rad(longitude)),
    Math.sin(rad(latitude)),
  ];
  const [ax, ay, az] = direction(latitudeA, longitudeA);
  const [bx, by, bz] = direction(latitudeB, longitudeB);
  return Math.atan2(Math.hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), ax * bx + ay * by + az * bz);
}
