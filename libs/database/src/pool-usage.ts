import type { DataSource } from 'typeorm';

/** The connections of a data source. */
export interface PoolUsage {
  readonly total: number;
  readonly idle: number;
  /** Queries that wait for one. */
  readonly waiting: number;
}

/** All 0 before the data source is connected. */
export function poolUsageOf(dataSource: DataSource): PoolUsage {
  const { master } = dataSource.driver as { master?: Partial<Record<`${keyof PoolUsage}Count`, number>> };
  return { total: master?.totalCount ?? 0, idle: master?.idleCount ?? 0, waiting: master?.waitingCount ?? 0 };
}
