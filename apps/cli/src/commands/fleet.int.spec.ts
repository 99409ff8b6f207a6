import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashApiKey } from '@waypost/domain';
import { openTestStore, type TestStore } from '../../../../test/support/test-store.js';
import { savedApiKeys } from '../stack/api-keys.js';
import { createFleet, createFleetKey } from './fleet.js';

let database: TestStore;
let folder: string;
let before: string | undefined;

beforeAll(async () => {
  database = await openTestStore();
  folder = await mkdtemp(join(tmpdir(), 'waypost-fleet-'));
  before = process.env['DATABASE_URL'];
  process.env['DATABASE_URL'] = database.databaseUrl;
});
afterAll(async () => {
  if (before === undefined) delete process.env['DATABASE_URL'];
  else process.env['DATABASE_URL'] = before;
  await database.close();
  await rm(folder, { recursive: true });
});

function openTerminal() {
  const printed = { out: '', err: '' };
  const to = (name: keyof typeof printed) =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        printed[name] += chunk.toString();
        done();
      },
    });
  return { printed, terminal: { out: to('out'), err: to('err') } };
}

const lastWord = (text: string): string => text.trim().split(' ').at(-1) ?? '';

describe('waypost fleet', () => {
  it('prints the key of a fleet last, and keeps it in the data directory', async () => {
    const { printed, terminal } = openTerminal();
    await createFleet(terminal, { dataDir: folder, fleetId: 'kept', format: 'v1', routes: false, now: Date.now });
    expect(await savedApiKeys(folder)).toEqual({ kept: lastWord(printed.out) });
    expect(printed.err).toBe('');
  });

  it('prints a valid key where it cannot be kept, and says so', async () => {
    // Fails for a superuser too, unlike a folder that is read-only.
    const dataDir = join(folder, 'file', 'data');
    await writeFile(join(folder, 'file'), '');
    const { printed, terminal } = openTerminal();
    await createFleet(terminal, { dataDir, fleetId: 'acme', format: 'v1', routes: false, now: Date.now });
    await createFleetKey(terminal, { dataDir, fleetId: 'acme', now: Date.now });
    const keys = printed.out.trim().split('\n').map(lastWord);
    expect(keys).toHaveLength(2);
    for (const key of keys)
      expect(await database.store.apiKeys.find(hashApiKey(key))).toMatchObject({ fleetId: 'acme' });
    expect(printed.err).toMatch(/^The API key could not be saved in .* \(.*ENOTDIR.*\): save it yourself/);
  });
});
