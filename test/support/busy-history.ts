import { createDataSource } from '@waypost/database';
import { createDeliveryProjection, createPathProjection } from '@waypost/history-store';
import { type BusyHour, busyHour, busyPaths } from './busy-hour.js';

/** Writes what the projector would have written while the hour happened. @throws when it is not written */
export async function writeBusyHistory(databaseUrl: string, hour: BusyHour): Promise<void> {
  const dataSource = await createDataSource(databaseUrl).initialize();
  const now = () => hour.nowMs;
  const [attempts, points] = [busyHour(hour), busyPaths(hour)];
  // No topic: any name will do that no other hour has.
  const batch = { topic: `busy-hour-${hour.fleetId}`, partition: 0, expectedOffset: null };
  const pathBatch = { ...batch, topic: `${batch.topic}-pings`, nextOffset: points.length, points };
  const outcomes = [
    await createDeliveryProjection({ dataSource, now }).apply({ ...batch, nextOffset: attempts.length, attempts }),
    await createPathProjection({ dataSource, now }).apply(pathBatch),
  ];
  await dataSource.destroy();
  for (const { type } of outcomes) if (type !== 'applied') throw new Error(`The busy hour was not written: ${type}.`);
}
