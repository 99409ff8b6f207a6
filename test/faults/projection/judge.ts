import { readValues } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import type { Database } from './database.js';
import { foldLog } from './fold-log.js';
import { compareRows, readRows } from './rows.js';

export interface JudgeOptions {
  readonly log: Log;
  readonly database: Database;
  readonly nowMs: number;
  /** Whether stock kafkajs, which takes some seconds to join, has to read the same. */
  readonly secondReader: boolean;
}

export interface Findings {
  readonly attempts: number;
  readonly rows: number;
  readonly problems: readonly string[];
}

/** Holds the table against a fold of the whole log, in which the attempts of one delivery are in one partition. */
export async function judgeProjection({ log, database, nowMs, secondReader }: JudgeOptions): Promise<Findings> {
  const problems: string[] = [];
  const attempts = (await readValues(log, 'webhookAttempts', { problems, secondReader })).map(({ value }) => value);
  const found = await database.query(readRows);
  problems.push(...compareRows(foldLog(attempts, nowMs), found));
  return { attempts: attempts.length, rows: found.size, problems };
}
