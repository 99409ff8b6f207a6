import type { DataSource } from 'typeorm';
import {
  createDailyPartitions,
  partitionName as partitionNameOf,
  type DailyPartitions,
  type DailyTable,
} from '../daily-partitions.js';

const DELIVERIES: DailyTable = { name: 'deliveries', creationLock: 7_215_002, retentionLock: 7_215_003 };

/** The days of the deliveries table, by first attempt. */
export const createDeliveryPartitions = (dataSource: DataSource): DailyPartitions =>
  createDailyPartitions(dataSource, DELIVERIES);

export const partitionName = (dayMs: number): string => partitionNameOf('deliveries', dayMs);
