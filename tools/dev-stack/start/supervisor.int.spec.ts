import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { saveApiKey } from '../../../apps/cli/src/stack/api-keys.js';
import { requireTestStack } from '../../../test/support/test-stack.js';
import { until } from '../../../test/support/until.js';
import { identityOf, isAlive, type ProcessIdentity } from '../processes/process-identity.js';
import { waitUntil } from '../processes/wait-until.js';
import { projectRoot } from '../project-root.js';

interface Stack {
  readonly brokers: string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly apiKeys: Record<string, string>;
  readonly pids: Record<string, number[]>;
}

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exited: Promise<unknown[]>;
}

/** A start takes as long as all else; one of them is for `npm run test:long`. */
const isLong = process.env['WAYPOST_LONG_TESTS'] !== undefined;
/** Its path goes beyond ASCII and beyond Latin-1, and has what escapes in settings. */
const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'waypost-zoë ł\\u-')));
const started: ChildProcess[] = [];
let run: Run;

function launch(env: NodeJS.ProcessEnv = {}): Run {
  const args = ['--import', './test/support/typescript-loader.mjs', 'test/support/fake-apps/supervise.ts'];
  const child = spawn(process.execPath, [...args, '--no-demo', '--data-dir', dataDir], {
    cwd: projectRoot(),
    detached: true,
    // As in many a container.
    env: { ...process.env, LC_ALL: 'C', ...env },
    // Its standard input ends with this process, whatever becomes of it.
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output, exited: once(child, 'exit') };
}

async function ready(launched: Run): Promise<Run> {
  await waitUntil(
    () => (launched.output().includes('\nready') ? Promise.resolve() : Promise.reject(new Error(launched.output()))),
    { timeoutMs: 60_000 },
  );
  return launched;
}

function stackFile(): Stack {
  return JSON.parse(readFileSync(join(dataDir, 'stack.json'), 'utf8')) as Stack;
}

function pidOf(name: string): number {
  const [pid] = stackFile().pids[name] ?? [];
  if (pid === undefined) throw new Error(`${name} has no process id in stack.json.`);
  return pid;
}

/** Every process of the stack, the guardian and the children of Postgres included. */
function familyOf(rootPid: number): ProcessIdentity[] {
  const childrenOf = (pid: number): number[] => {
    try {
      const text = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
      return text.split(' ').filter(Boolean).map(Number);
    } catch {
      // It has ended since its parent was looked at.
      return [];
    }
  };
  const family = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(family)];
  return family(rootPid)
    .map(identityOf)
    .filter((identity) => identity !== null);
}

/** The name of a process is cut to 15 characters. */
function guardianOf(rootPid: number): ProcessIdentity | undefined {
  return familyOf(rootPid).find(({ pid }) =>
    readFileSync(`/proc/${String(pid)}/comm`, 'utf8').startsWith('waypost-guard'),
  );
}

/** Never process id 0, which would mean the group of the tests. */
function kill(target: ProcessIdentity | ChildProcess | undefined): void {
  if (target?.pid === undefined) throw new Error('There is no process to kill.');
  process.kill(target.pid, 'SIGKILL');
}

async function guardianReplaced(): Promise<void> {
  const rootPid = run.child.pid ?? 0;
  const first = guardianOf(rootPid);
  kill(first);
  await until(() => {
    const second = guardianOf(rootPid);
    return second !== undefined && second.pid !== first?.pid;
  });
}

async function query(sql: string): Promise<unknown[]> {
  const client = new pg.Client(stackFile().databaseUrl);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function withAdmin<T>(work: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> {
  const admin = new Kafka({ brokers: stackFile().brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

async function registerSchema(): Promise<unknown> {
  const response = await fetch(`${stackFile().registryUrl}/subjects/kept-value/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema: '"long"' }),
  });
  return response.json();
}

afterAll(async () => {
  for (const child of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  const cluster = await realpath(join(dataDir, 'postgres'));
  // Root's closed folders have their cluster elsewhere.
  if (!cluster.startsWith(dataDir)) await rm(dirname(cluster), { recursive: true, force: true });
  await rm(dataDir, { recursive: true, force: true });
});

// The order matters: the second half finds what the first half has left.
describe('a supervised stack', () => {
  let schemaBefore: unknown;

  beforeAll(async () => {
    run = await ready(launch());
  }, 90_000);

  it('names the living processes of all parts and applications in stack.json', () => {
    const { pids } = stackFile();
    const apps = ['telemetry-processor', 'webhook-delivery', 'history-projector', 'public-api'];
    expect(Object.keys(pids).sort()).toEqual(['kafka', 'postgres', 'registry', ...apps].sort());
    const programs = Object.entries(pids).map(([name, [pid]]) => [
      name,
      basename(readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8').split('\0')[0] ?? ''),
    ]);
    expect(Object.fromEntries(programs)).toMatchObject({
      kafka: 'java',
      registry: 'java',
      postgres: 'postgres',
      'public-api': 'node',
    });
  });

  (process.getuid?.() === 0 ? it : it.skip)('gives webhook-delivery a core before the others if root starts it', () => {
    const own = getPriority();
    expect(getPriority(pidOf('webhook-delivery'))).toBe(Math.max(-20, own - 20));
    for (const name of ['telemetry-processor', 'history-projector', 'public-api']) {
      expect(getPriority(pidOf(name))).toBe(own);
    }
  });

  it('offers a broker, a registry and a database that work', async () => {
    await withAdmin((admin) =>
      admin.createTopics({ topics: [{ topic: 'kept', numPartitions: 3, replicationFactor: 1 }] }),
    );
    await query('CREATE TABLE kept (n int)');
    await query('INSERT INTO kept VALUES (41)');
    schemaBefore = await registerSchema();
    expect(schemaBefore).toEqual({ id: expect.any(Number) });
  });

  it('shows an API key in stack.json before the command that saves it ends', async () => {
    await saveApiKey(dataDir, 'fleet', 'key');
    expect(stackFile().apiKeys['fleet']).toBe('key');
  });

  it.each(['public-api', 'kafka', 'registry', 'postgres'])(
    'starts %s again after SIGKILL and says so in one line',
    async (name) => {
      const before = pidOf(name);
      process.kill(before, 'SIGKILL');
      await until(() => pidOf(name) !== before);
      const identity = identityOf(pidOf(name));
      expect(identity).not.toBeNull();
      const lines = run
        .output()
        .split('\n')
        .filter((line) => line.startsWith(name) && line.includes('SIGKILL'));
      expect(lines).toHaveLength(1);
    },
  );

  it('offers working parts again after they were killed', async () => {
    await waitUntil(() => withAdmin((admin) => admin.listTopics()), { timeoutMs: 30_000 });
    expect(await waitUntil(() => query('SELECT n FROM kept'), { timeoutMs: 30_000 })).toEqual([{ n: 41 }]);
    expect(await waitUntil(registerSchema, { timeoutMs: 30_000 })).toEqual(schemaBefore);
  });

  it('refuses a second stack on the same data directory with one sentence and exit code 1', async () => {
    const second = launch();
    expect(await second.exited).toEqual([1, null]);
    expect(second.output()).toMatch(/^The stack with process id \d+ uses .*: stop it, or name another --data-dir\.\n$/);
    expect(existsSync(join(dataDir, 'stack.json'))).toBe(true);
  });

  it('replaces a dead guardian', async () => {
    await guardianReplaced();
  });

  it('leaves no process behind within 2 s when the supervisor and its guardian are killed at once', async () => {
    const rootPid = run.child.pid ?? 0;
    const family = familyOf(rootPid);
    expect(family.length).toBeGreaterThan(12);
    kill(guardianOf(rootPid));
    kill(run.child);
    await until(() => !family.some(isAlive));
  });

  it('comes up again on the same data directory with topics, schema ids and rows', async () => {
    const { apiUrl } = stackFile();
    const launched = launch();
    // Early: the registry needs it.
    await until(() => launched.output().includes('Starting PostgreSQL'), { timeoutMs: 60_000 });
    // Another stack that starts at the same time and is faster.
    const other = createServer().listen(Number(new URL(apiUrl).port), '127.0.0.1');
    run = await ready(launched);
    other.close();
    expect(stackFile().apiUrl).not.toBe(apiUrl);
    const counts = await withAdmin((admin) => admin.fetchTopicMetadata({ topics: ['kept'] }));
    expect(counts.topics[0]?.partitions).toHaveLength(3);
    expect(await query('SELECT n FROM kept')).toEqual([{ n: 41 }]);
    expect(await registerSchema()).toEqual(schemaBefore);
    expect(stackFile().apiKeys).toEqual({ fleet: 'key' });
  }, 90_000);

  if (isLong)
    it('ends with a supervisor that is killed after its guardian was replaced', async () => {
      await guardianReplaced();
      const family = familyOf(run.child.pid ?? 0);
      kill(run.child);
      await until(() => !family.some(isAlive));
      run = await ready(launch());
    }, 120_000);

  it('stops everything within 10 s of SIGTERM to its group, with exit code 0 and without a stack.json', async () => {
    const rootPid = run.child.pid ?? 0;
    const family = familyOf(rootPid);
    const stoppedAt = performance.now();
    process.kill(-rootPid, 'SIGTERM');
    expect(await run.exited).toEqual([0, null]);
    expect(performance.now() - stoppedAt).toBeLessThan(10_000);
    await until(() => !family.some(isAlive));
    expect(existsSync(join(dataDir, 'stack.json'))).toBe(false);
  }, 120_000);

  it('stops cleanly when it is asked to in the middle of its start', async () => {
    const early = launch();
    await until(() => early.output().includes('Starting PostgreSQL'), { timeoutMs: 60_000 });
    const family = familyOf(early.child.pid ?? 0);
    early.child.kill('SIGINT');
    expect(await early.exited).toEqual([0, null]);
    await until(() => !family.some(isAlive));
  });

  it('stops without an end of its set-up, which may wait for another stack on the same database', async () => {
    const { brokers, registryUrl, databaseUrl } = requireTestStack();
    const external = { KAFKA_BROKERS: brokers.join(), SCHEMA_REGISTRY_URL: registryUrl, DATABASE_URL: databaseUrl };
    const early = launch({ ...external, WAYPOST_FAKE_SET_UP: 'endless' });
    await until(() => early.output().includes('setting up'), { timeoutMs: 60_000 });
    early.child.kill('SIGINT');
    expect(await early.exited).toEqual([0, null]);
  });
});
