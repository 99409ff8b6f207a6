import type { PathHistory, PathPoint, PathPosition } from '@waypost/domain';
import { type PathProjection, pointKey, selectPoints } from '../paths/path-projection.js';

/** Projection and history in one process, without a database. The contract suite keeps both kinds equal. */
export interface MemoryPathStore {
  readonly projection: PathProjection;
  readonly history: PathHistory;
}

export function createMemoryPathStore({ now }: { readonly now: () => number }): MemoryPathStore {
  const positions = new Map<string, number>();
  const points = new Map<string, PathPoint>();
  const nameOf = (topic: string, partition: number): string => `${topic}-${String(partition)}`;

  const projection: PathProjection = {
    readPosition: (topic, partition) => Promise.resolve(positions.get(nameOf(topic, partition)) ?? null),
    apply(batch) {
      const name = nameOf(batch.topic, batch.partition);
      const storedOffset = positions.get(name) ?? null;
      if (storedOffset !== batch.expectedOffset) return Promise.resolve({ type: 'superseded', storedOffset });
      const selected = selectPoints(batch.points, now());
      const fresh = selected.points.filter((point) => !points.has(pointKey(point)));
      for (const point of fresh) points.set(pointKey(point), point);
      positions.set(name, batch.nextOffset);
      return Promise.resolve({
        type: 'applied',
        stored: fresh.length,
        repeated: selected.repeated + selected.points.length - fresh.length,
        expired: selected.expired,
        ahead: selected.ahead,
      });
    },
  };

  const history: PathHistory = {
    findPoints({ fleetId, startAt, endAt, deviceIds, limit, after }) {
      const found = [...points.values()].filter(
        (point) =>
          point.fleetId === fleetId &&
          point.eventTime >= startAt &&
          point.eventTime < endAt &&
          (deviceIds === undefined || deviceIds.includes(point.deviceId)) &&
          (after === undefined || comparePositions(point, after) > 0),
      );
      return Promise.resolve(found.sort(comparePositions).slice(0, limit));
    },
  };
  return { projection, history };
}

/** As PostgreSQL compares under the collation "C". */
function comparePositions(a: PathPosition, b: PathPosition): number {
  return Buffer.compare(Buffer.from(a.deviceId), Buffer.from(b.deviceId)) || a.eventTime - b.eventTime;
}
