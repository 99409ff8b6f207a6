import type { DataSourceOptions } from 'typeorm';
import { HistoryTables1760000000000 } from '../history/migrations/history-tables-1760000000000.js';
import { ManagementTables1760000100000 } from '../management/migrations/management-tables-1760000100000.js';

/** Every migration, oldest first. A released migration is never edited; a change is a new class at the end. */
export const migrations = [
  HistoryTables1760000000000,
  ManagementTables1760000100000,
] satisfies DataSourceOptions['migrations'];
