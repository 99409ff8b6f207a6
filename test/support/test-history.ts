import { afterAll, beforeAll } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createDataSource, createPageSource, type PageSource } from '@waypost/database';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { requireTestStack } from './test-stack.js';

/** The database of a spec file. */
export interface TestHistory {
  readonly database: TestDatabase;
  /** Of a superuser. */
  readonly dataSource: DataSource;
  /** With the rights of public-api. */
  readonly pages: PageSource;
}

/** Opens a database before the tests of a file and drops it after them. */
export function useTestHistory(settings: { readonly poolSize?: number } = {}): TestHistory {
  const suite = {} as TestHistory;
  beforeAll(async () => {
    const database = await createTestDatabase(requireTestStack().databaseUrl);
    const dataSource = await createDataSource(database.url, settings).initialize();
    Object.assign(suite, { database, dataSource, pages: createPageSource(database.apiUrl) });
  });
  afterAll(async () => {
    await suite.pages.close();
    await suite.dataSource.destroy();
    await suite.database.drop();
  });
  return suite;
}
