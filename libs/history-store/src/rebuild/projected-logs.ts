import type { DailyTable } from '../daily-table.js';

/** Of each table that is filled from a log, and from nothing else, the topic of that log. All of them, by its type. */
export type ProjectedLogs = Readonly<Record<DailyTable['name'], string>>;
