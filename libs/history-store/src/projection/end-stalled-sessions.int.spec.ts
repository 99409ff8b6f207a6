import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { requireTestStack } from '../../../../test/support/test-stack.js';
import { endStalledSessions } from './end-stalled-sessions.js';

const APPLICATION = 'a projector';
/** Far longer than this test takes. */
const LONG_MS = 60_000;

let database: TestDatabase;
let stalled: pg.Client;
let successor: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase(requireTestStack().databaseUrl);
  stalled = new pg.Client({ connectionString: database.url, application_name: APPLICATION });
  successor = new pg.Client({ connectionString: database.url, application_name: APPLICATION });
  for (const client of [stalled, successor]) {
    client.on('error', () => undefined);
    await client.connect();
  }
});
afterAll(async () => {
  await Promise.all([stalled.end(), successor.end()]);
  await database.drop();
});

const MOVE = "UPDATE projection_positions SET next_offset = next_offset + 1 WHERE topic = 'a topic' AND partition = 0";
function end(stalledForMs: number, applicationName = APPLICATION): Promise<number> {
  return endStalledSessions({ databaseUrl: database.url, applicationName, stalledForMs });
}

/** Starts a COPY without data, like a process that was stopped. Resolves when the server waits for the data. */
function copyWithoutData(client: pg.Client): Promise<void> {
  return new Promise((resolve) => {
    client.query({
      submit: (connection: { query(sql: string): void }) => {
        connection.query(`BEGIN; ${MOVE}; COPY projection_positions FROM STDIN`);
      },
      handleCommandComplete: () => undefined,
      handleCopyInResponse: resolve,
      handleError: () => undefined,
      handleReadyForQuery: () => undefined,
    } as unknown as pg.Submittable);
  });
}

describe('endStalledSessions', () => {
  it('lets a successor continue after a process was stopped in the middle of a COPY', async () => {
    await successor.query("INSERT INTO projection_positions VALUES ('a topic', 0, 5)");
    await successor.query("SET idle_in_transaction_session_timeout = '500ms'; SET lock_timeout = '2s'");
    await stalled.query("SET idle_in_transaction_session_timeout = '500ms'; SET statement_timeout = '500ms'");
    await copyWithoutData(stalled);

    await expect(successor.query(MOVE)).rejects.toThrow('lock timeout');
    expect(await end(LONG_MS)).toBe(0);
    // A person who fills a table with COPY by hand has another application name.
    expect(await end(100, 'another application')).toBe(0);
    expect(await end(100)).toBe(1);
    expect((await successor.query(MOVE)).rowCount).toBe(1);
    const { rows } = await successor.query('SELECT next_offset FROM projection_positions');
    expect(rows).toEqual([{ next_offset: '6' }]);
  });

  it('does not touch sessions that wait for the next statement, in a transaction or not', async () => {
    await successor.query('SET idle_in_transaction_session_timeout = 0');
    await successor.query('BEGIN');
    await successor.query(MOVE);
    expect(await end(0)).toBe(0);
    await successor.query('COMMIT');
    expect(await end(0)).toBe(0);
  });
});
