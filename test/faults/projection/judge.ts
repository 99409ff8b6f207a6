import { differences } from '../../support/differences.js';
import { readValues } from '../shared/committed-log.js';
import type { Log } from '../shared/stage.js';
import type { Database } from './database.js';
import { figureProblems } from './figures.js';
import { foldLog, foldPings, foldWaiting } from './fold-log.js';
import { compareRows, compareWaiting, readPathPoints, readRows, readWaiting } from './rows.js';

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
  /** Of all paths, by the log of pings. */
  readonly points: number;
  readonly problems: readonly string[];
}

/** Holds the tables against a fold of both logs, in which the attempts of one delivery are in one partition. */
export async function judgeProjection(options: JudgeOptions): Promise<Findings> {
  const { log, database, secondReader } = options;
  const history = await judgeHistory(options);
  const problems = [...history.problems];
  const pings = (await readValues(log, 'telemetryPings', { problems, secondReader })).map(({ value }) => value);
  const points = foldPings(pings);
  const missing = differences(await database.query(readPathPoints), points);
  if (missing.missing.length > 0) problems.push(`points of paths that are missing: ${missing.missing.join('; ')}`);
  if (missing.unexpected.length > 0) problems.push(`points that no ping is: ${missing.unexpected.join('; ')}`);
  return { ...history, points: points.length, problems };
}

/** The deliveries alone. */
export async function judgeHistory(options: JudgeOptions): Promise<Omit<Findings, 'points'>> {
  const { log, database, nowMs, secondReader } = options;
  const problems: string[] = [];
  const attempts = (await readValues(log, 'webhookAttempts', { problems, secondReader })).map(({ value }) => value);
  const found = await database.query(readRows);
  const expected = foldLog(attempts, nowMs);
  problems.push(...compareRows(expected, found));
  problems.push(...(await database.query((client) => figureProblems(client, expected.values()))));
  const deliveries = (await readValues(log, 'webhookDeliveries', { problems, secondReader })).map(({ value }) => value);
  problems.push(...compareWaiting(foldWaiting(deliveries, attempts, nowMs), await database.query(readWaiting)));
  return { attempts: attempts.length, rows: found.size, problems };
}
