import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { API_KEY_SCOPES, type ApiKeyScope } from '@waypost/management-store';
import { type TestStoreSuite, useTestStore } from '../../../../test/support/test-store.js';
import { startTestApi, type TestAnswer, type TestApi, type TestApiOptions } from './test-api.js';

/** The API on a database of the spec file, and the fleet of the running test. */
export interface TestFleet extends TestStoreSuite {
  readonly api: TestApi;
  /** A key of the fleet with every scope, which only this API knows. */
  readonly key: string;
  /** A key in the database, by default of the fleet and with every scope: who makes keys or sessions needs one. */
  storeKey(given?: KeyOptions): Promise<StoredKey>;
  /** The clock of the API, epoch ms; set back to START_MS before each test. */
  nowMs: number;
  /** The outbox ids of each change whose publication a request has waited for in this test. */
  readonly waitedFor: (readonly string[])[];
  /** Sends a request with the key of the fleet. */
  send(method: string, path: string, json?: unknown, headers?: Record<string, string>): Promise<TestAnswer>;
}

interface KeyOptions {
  readonly fleetId?: string;
  readonly scopes?: readonly ApiKeyScope[];
}

interface StoredKey {
  readonly id: string;
  readonly key: string;
}

export const START_MS = Date.UTC(2026, 2, 20, 12);

/** Starts the API before the tests of a file and closes it after them; each test has a new fleet. */
export function useTestFleet(options: Omit<TestApiOptions, 'store' | 'now' | 'untilPublished'> = {}): TestFleet {
  async function storeKey({ fleetId = suite.fleetId, scopes = API_KEY_SCOPES }: KeyOptions = {}): Promise<StoredKey> {
    const made = await suite.store.apiKeys.create({ fleetId, scopes, nowMs: suite.nowMs });
    if (made.type !== 'created') throw new Error(made.type);
    return made;
  }

  const own = {
    nowMs: START_MS,
    send: (method, path, json, headers = {}) => suite.api.request(path, { method, key: suite.key, json, headers }),
    storeKey,
  } as { -readonly [Name in keyof TestFleet]: TestFleet[Name] };
  const suite = Object.assign(useTestStore(START_MS), own);
  beforeAll(async () => {
    const { store } = suite;
    const untilPublished = (ids: readonly string[]) => Promise.resolve(suite.waitedFor.push(ids) > 0);
    const findApiKey = (hash: Buffer) => store.apiKeys.find(hash);
    const api = await startTestApi({ findApiKey, ...options, store, now: () => suite.nowMs, untilPublished });
    Object.assign(suite, { api });
  });
  afterAll(() => suite.api.close());
  beforeEach(() => {
    Object.assign(suite, { nowMs: START_MS, key: suite.api.addKey(suite.fleetId), waitedFor: [] });
  });
  return suite;
}
