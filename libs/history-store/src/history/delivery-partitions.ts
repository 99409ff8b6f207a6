import type { DataSource } from 'typeorm';
import { createDailyPartitions, partitionName as partitionNameOf, type DailyPartitions } from '../daily-partitions.js';
import type { DailyTable } from '../daily-table.js';
import type { DetachLimits } from '../expired-days.js';

const DELIVERIES: DailyTable = { name: 'deliveries', creationLock: 7_215_002, retentionLock: 7_215_003 };

/** The days of the deliveries table, by first attempt. */
export const createDeliveryPartitions = (dataSource: DataSource, limits?: DetachLimits): DailyPartitions =>
  createDailyPartitions(dataSource, DELIVERIES, limits);

export const partitionName = (dayMs: number): string => partitionNameOf('deliveries', dayMs);
