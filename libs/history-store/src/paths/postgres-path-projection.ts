import type { DataSource } from 'typeorm';
import { inTransaction } from '../history/in-transaction.js';
import { readPosition } from '../history/projection-position.js';
import { createKnownDays } from '../known-days.js';
import { createTurns } from '../turns.js';
import { createPathPartitions } from './path-partitions.js';
import type { PathProjection } from './path-projection.js';
import { selectPoints } from './select-points.js';
import { writePoints } from './write-points.js';

export interface PathProjectionDeps {
  readonly dataSource: DataSource;
  /** Epoch milliseconds; decides what is beyond the retention. */
  readonly now: () => number;
}

/** The projection into PostgreSQL. Its caller applies the batches of one partition one after the other. */
export function createPathProjection({ dataSource, now }: PathProjectionDeps): PathProjection {
  const days = createKnownDays(createPathPartitions(dataSource));
  // One at a time: a flood of pings must not take every core from what delivers.
  const inTurn = createTurns();
  return {
    readPosition: (topic, partition) => readPosition(dataSource, topic, partition),

    async apply(batch) {
      const { points, repeated, ...left } = selectPoints(batch.points, now());
      try {
        await days.ensure(points.map(({ eventTime }) => eventTime));
        const stored = await inTurn(() => inTransaction(dataSource, (client) => writePoints(client, batch, points)));
        if (stored !== null) return { type: 'applied', stored, repeated: repeated + points.length - stored, ...left };
        return { type: 'superseded', storedOffset: await readPosition(dataSource, batch.topic, batch.partition) };
      } catch (error) {
        days.forget();
        throw error;
      }
    },
  };
}
