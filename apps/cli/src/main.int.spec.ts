import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const ROOT = new URL('../../../', import.meta.url).pathname;
const TASK = { task: 'fan-out:1', topic: 'events', partition: 1, state: 'running', parked: null, lagRecords: 3 };

let dataDir: string;
let server: Server;

/** A stack whose API has a history without an end, and of whose two instances one has a task and the other does not answer. */
beforeEach(async () => {
  server = createServer((request, response) => {
    const answer =
      request.url === '/tasks' ? { tasks: [TASK] } : { data: [{ eventId: 'x'.repeat(1_000) }], nextPageState: 'more' };
    response.end(JSON.stringify(answer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  dataDir = await mkdtemp(join(tmpdir(), 'waypost-cli-main-'));
  const stack = { brokers: '', registryUrl: '', databaseUrl: '', apiUrl: url, apiKeys: { f: 'wp_f' } };
  await writeFile(join(dataDir, 'stack.json'), JSON.stringify({ ...stack, adminUrls: [url, 'http://127.0.0.1:1'] }));
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dataDir, { recursive: true });
});

/** The exit code of a command that nothing reads any more, not even the sentence on standard error where `unread` is both. */
async function exitCodeOf(args: readonly string[], unread: 'stdout' | 'both'): Promise<number | null> {
  const program = ['--import', './test/support/typescript-loader.mjs', 'apps/cli/src/main.ts'];
  const child = spawn(process.execPath, [...program, ...args, '--data-dir', dataDir], { cwd: ROOT });
  child.stdout.destroy();
  if (unread === 'both') child.stderr.destroy();
  else child.stderr.resume();
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

describe('A command whose output nothing reads any more', () => {
  it.each(['stdout', 'both'] as const)(
    'judges all the same (%s)',
    async (unread) => {
      expect(await exitCodeOf(['tasks', 'list', '--all'], unread)).toBe(1);
    },
    60_000,
  );

  it('ends well when all it does is print', async () => {
    expect(await exitCodeOf(['history', '--fleet', 'f'], 'stdout')).toBe(0);
  }, 60_000);
});
