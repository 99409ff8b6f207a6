import type { DataSource } from 'typeorm';
import { createDailyPartitions, type DailyPartitions } from '../daily-partitions.js';
import type { DailyTable } from '../daily-table.js';

const PATH_POINTS: DailyTable = { name: 'path_points', creationLock: 7_215_004, retentionLock: 7_215_005 };

/** The days of the paths, by event time. */
export const createPathPartitions = (dataSource: DataSource): DailyPartitions =>
  createDailyPartitions(dataSource, PATH_POINTS);
