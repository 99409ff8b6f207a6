import { createDataSource } from '@waypost/database';
import { createDeliveryProjection, type DeliveryProjection } from '@waypost/history-store';
import { type AttemptSource, createAttemptSource } from '../load/attempt-source.js';
import { createFleets, fleetsOfPartition } from '../load/fleets.js';

export interface ProjectorDeps {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly onProgress: (projected: Projected) => void;
}

/** As in history-projector. */
const POOL_SIZE = 8;
export const PARTITIONS = 4;
/** Attempts in a transaction, at most. */
export const BATCH_SIZE = 2_000;
const TELL_EVERY_MS = 500;

/** What history-projector does with attempts that it has decoded: the partitions at once, the batches of each in turn. */
export function createProjector({ now, onProgress }: ProjectorDeps) {
  let dataSource: ReturnType<typeof createDataSource> | undefined;
  let stopped = false;

  async function work(plan: LoadPlan, apply: ApplyBatch): Promise<Projected> {
    stopped = false;
    const startedAt = now();
    const sum = { attempts: 0, deliveries: 0, transactions: 0 };
    const soFar = (): Projected => ({ ...sum, elapsedMs: now() - startedAt });
    const telling = setInterval(() => onProgress(soFar()), TELL_EVERY_MS);
    try {
      await Promise.all(
        sourcesOf(plan).map(async (source, partition) => {
          for (let batch = await source.next(); batch.length > 0 && !stopped; batch = await source.next()) {
            await apply(partition, batch);
            sum.attempts += batch.length;
            sum.deliveries += batch.filter(({ attempt }) => attempt === 1).length;
            sum.transactions += 1;
          }
        }),
      );
    } finally {
      clearInterval(telling);
    }
    return soFar();
  }

  return {
    async handle(request: unknown): Promise<Projected | null> {
      const asked = request as ProjectorRequest;
      switch (asked.type) {
        case 'connect':
          dataSource = createDataSource(asked.databaseUrl, { poolSize: POOL_SIZE, applicationName: 'bench projector' });
          await dataSource.initialize();
          return null;
        case 'project': {
          if (dataSource === undefined) throw new Error('Not connected.');
          const projection = createDeliveryProjection({ dataSource, now: () => asked.plan.nowMs });
          return work(asked.plan, applyTo(projection, asked.log));
        }
        case 'rehearse':
          return work(asked.plan, () => new Promise(setImmediate));
        case 'stop':
          stopped = true;
          return null;
      }
    },
  };
}

type Batch = Awaited<ReturnType<AttemptSource['next']>>;
type ApplyBatch = (partition: number, attempts: Batch) => Promise<unknown>;

function applyTo(projection: DeliveryProjection, topic: string): ApplyBatch {
  const positions = new Map<number, number>();
  return async (partition, attempts) => {
    const expectedOffset = positions.get(partition) ?? null;
    const nextOffset = (expectedOffset ?? 0) + attempts.length;
    const result = await projection.apply({ topic, partition, expectedOffset, nextOffset, attempts });
    if (result.type !== 'applied') throw new Error(`Partition ${String(partition)} was written by another process.`);
    const left = result.expiredAttempts + result.headlessDeliveries;
    if (left > 0) throw new Error(`${String(left)} attempts of a batch were not written.`);
    positions.set(partition, nextOffset);
  };
}

function sourcesOf({ seed, deliveries, fromMs, toMs }: LoadPlan): AttemptSource[] {
  const all = createFleets();
  let left = deliveries;
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    const { fleets, share } = fleetsOfPartition(all, partition, PARTITIONS);
    const here = partition === PARTITIONS - 1 ? left : Math.round(deliveries * share);
    left -= here;
    return createAttemptSource({
      fleets,
      seed: seed * 1_000 + partition,
      fromMs,
      toMs,
      batchSize: BATCH_SIZE,
      deliveries: here,
    });
  });
}

/** The window that a load fills, and how. */
export interface LoadPlan {
  readonly seed: number;
  /** Of all partitions together. */
  readonly deliveries: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** The clock of the projection: decides what is beyond the retention. */
  readonly nowMs: number;
}

export type ProjectorRequest =
  | { readonly type: 'connect'; readonly databaseUrl: string }
  /** Applies a log of its own, all partitions at once, each from its beginning to its end or until `stop`. */
  | { readonly type: 'project'; readonly log: string; readonly plan: LoadPlan }
  /** As `project`, without a database: what making up the attempts costs alone. */
  | { readonly type: 'rehearse'; readonly plan: LoadPlan }
  | { readonly type: 'stop' };

/** What was projected so far; sent twice a second and at the end. */
export interface Projected {
  readonly attempts: number;
  readonly deliveries: number;
  readonly transactions: number;
  readonly elapsedMs: number;
}
