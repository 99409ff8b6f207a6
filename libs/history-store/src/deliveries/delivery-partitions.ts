import type { DataSource } from 'typeorm';
import {
  createDailyPartitions,
  type DailyPartitions,
  partitionName as partitionNameOf,
} from '../partitions/daily-partitions.js';
import type { DailyTable } from '../partitions/daily-table.js';
import type { DetachLimits } from '../partitions/expired-partitions.js';

const DELIVERIES: DailyTable = { name: 'deliveries', creationLock: 7_215_002, retentionLock: 7_215_003 };

/** Partitions by first attempt. */
export function createDeliveryPartitions(dataSource: DataSource, limits?: DetachLimits): DailyPartitions {
  return createDailyPartitions(dataSource, DELIVERIES, limits);
}

export function partitionName(dayMs: number): string {
  return partitionNameOf('deliveries', dayMs);
}
