import { describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { DatabaseRetry } from '@waypost/database';
import { BootError } from '@waypost/platform';
import { readConfig } from '../config.js';
import { DatabaseStart } from './database-start.js';

const DATA = 'postgres://projector@localhost/waypost';
const OWNER = 'postgres://owner@localhost/waypost';

/** A start whose first attempts to migrate fail like this, and what it does, in order. */
function build(env: Record<string, string> = {}, failures: readonly string[] = []) {
  const left = [...failures];
  const steps: string[] = [];
  const note = (event: string): void => void steps.push(event);
  const config = readConfig({
    KAFKA_BROKERS: 'localhost:9092',
    SCHEMA_REGISTRY_URL: 'http://localhost:8081',
    DATABASE_URL: DATA,
    ...env,
  });
  const retry = new DatabaseRetry({
    logger: { info: note, warn: note },
    monotonicMs: () => 0,
    wait: () => new Promise((resolve) => setImmediate(resolve)),
  });
  const migrate = (url: string): Promise<void> => {
    const code = left.shift();
    if (code !== undefined) return Promise.reject(Object.assign(new Error(code), { code }));
    note(`migrate ${url}`);
    return Promise.resolve();
  };
  const start = new DatabaseStart(config, retry, migrate, new AbortController().signal);
  const initialize = (): Promise<void> => {
    note('connect');
    return Promise.resolve();
  };
  const dataSource = { initialize } as unknown as DataSource;
  return { steps, connect: () => start.connect(dataSource) };
}

describe('the start of the projector with its database', () => {
  it.each([
    ['of the data, where there is no other', {}, DATA],
    ['of the schema, which alone may create tables', { DATABASE_SCHEMA_URL: OWNER }, OWNER],
  ])('migrates with the login %s, and then connects', async (_, env, url) => {
    const { steps, connect } = build(env);
    await connect();
    expect(steps).toEqual([`migrate ${url}`, 'connect']);
  });

  it('waits for a database that is down', async () => {
    const { steps, connect } = build({}, ['ECONNREFUSED', 'ECONNREFUSED']);
    await connect();
    expect(steps).toEqual(['database_away', `migrate ${DATA}`, 'database_back', 'connect']);
  });

  it('ends where the database refuses it, before it connects', async () => {
    const WRONG_PASSWORD = '28P01';
    const { steps, connect } = build({}, [WRONG_PASSWORD]);
    await expect(connect()).rejects.toBeInstanceOf(BootError);
    expect(steps).toEqual([]);
  });
});
