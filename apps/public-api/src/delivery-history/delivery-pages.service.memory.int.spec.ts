import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createDataSource } from '@waypost/database';
import { createDeliveryPartitions } from '@waypost/history-store';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import type { WalkedPage } from '../testing/walking-process.js';

const LARGE_ROWS = 300;
const BODY_BYTES = 1_048_576;
const SMALL_HEAP_MB = 96;
const FLEET = 'fleet-of-large-bodies';

let database: TestDatabase;

/** Rows whose bodies are three times the heap of the process that walks over them. */
beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  const dataSource = await createDataSource(database.url).initialize();
  const startAt = Date.now() - 3_600_000;
  await createDeliveryPartitions(dataSource).ensurePartitions(startAt, Date.now());
  await dataSource.query(
    `INSERT INTO deliveries (event_id, first_attempt_at, last_attempt_at, event_time, created_at, series, status_code,
       last_attempt, fleet_id, device_id, subscription_id, event_type, format, status, url, body, attempts)
     SELECT md5(n::text)::uuid, at, at, at, at, 0, 200, 1, $1, 'device', 'subscription', 'position', 'v1', 'delivered',
            'https://x.example/', '{"n":"' || repeat('x', $2::integer - 8) || '"}', '[]'
       FROM generate_series(1, $3::integer) AS n, LATERAL (SELECT $4::timestamptz + n * interval '1 ms' AS at) AS moment`,
    [FLEET, BODY_BYTES, LARGE_ROWS, new Date(startAt).toISOString()],
  );
  await dataSource.destroy();
});
afterAll(() => database.drop());

it('a walk with the largest pages over large bodies needs a small heap, and shows every delivery once (R-34, R-34a)', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      `--max-old-space-size=${String(SMALL_HEAP_MB)}`,
      '--import',
      './test/support/typescript-loader.mjs',
      'apps/public-api/src/testing/walking-process.ts',
      database.url,
      FLEET,
    ],
    { maxBuffer: 64 * BODY_BYTES },
  );
  const pages = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as WalkedPage);
  const eventIds = pages.flatMap((page) => page.eventIds);
  expect(eventIds).toHaveLength(LARGE_ROWS);
  expect(new Set(eventIds).size).toBe(LARGE_ROWS);
  // Each holds a body twice, as payload and as text.
  expect(Math.max(...pages.map(({ textLength }) => textLength))).toBeLessThan(10 * BODY_BYTES);
  expect(pages.length).toBeLessThan(LARGE_ROWS);
});
