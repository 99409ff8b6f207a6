import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ApiKeyScope } from '@waypost/management-store';
import { runCommand } from '../../apps/cli/src/run-command.js';

interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `stack.json`. */
export interface StackInfo {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly apiUrl: string;
  /** By fleet: those that the command line keeps, and those of `createFleet`. */
  readonly apiKeys: Readonly<Record<string, string>>;
  readonly pids: Readonly<Record<string, readonly number[]>>;
}

/** A product that runs, used through what its users have: the data directory, the command line, process ids. */
export interface RunningWaypost {
  readonly dataDir: string;
  /** Read again at each call: process ids and API keys change. */
  info(): StackInfo;
  /** A command of the `waypost` command line on this stack. @throws when it fails. */
  cli(...args: readonly string[]): Promise<string>;
  /** Like `cli`; the JSON objects it printed, one per line. */
  cliLines<T>(...args: readonly string[]): Promise<T[]>;
  /** The same, whatever its exit code. */
  tryCli(...args: readonly string[]): Promise<CliResult>;
  /** Creates a fleet and an API key for it over HTTP, as an operator. */
  createFleet(fleet: string, settings?: { readonly payloadFormat?: string }): Promise<void>;
  /** Publishes the pings; returns when all of them are in the log. */
  publish(fleet: string, pings: readonly object[]): Promise<void>;
  /** A request to the API with the key of the fleet. @throws when it is refused. */
  api<T>(fleet: string, method: string, path: string, json?: object): Promise<T>;
  pidOf(name: string): number;
  /** SIGKILL to one process of a part or application; returns its process id. */
  kill(name: string): number;
}

/** Every scope, by their type alone: every suite would load the whole library for the list. */
const SCOPES: Readonly<Record<ApiKeyScope, true>> = {
  'events:read': true,
  'paths:read': true,
  'subscriptions:read': true,
  'subscriptions:write': true,
  'geofences:read': true,
  'geofences:write': true,
  'fleet:read': true,
  'fleet:write': true,
  'keys:read': true,
  'keys:write': true,
  'portal:read': true,
  'portal:write': true,
};

const root = fileURLToPath(new URL('../../', import.meta.url));

export function runningWaypost(dataDir: string): RunningWaypost {
  const stackFile = join(dataDir, 'stack.json');
  const createdKeys: Record<string, string> = {};
  const info = (): StackInfo => {
    const known = JSON.parse(readFileSync(stackFile, 'utf8')) as StackInfo;
    return { ...known, apiKeys: { ...known.apiKeys, ...keptKeys(dataDir), ...createdKeys } };
  };
  const tryCli = (...args: readonly string[]) => runCli([...args, '--data-dir', dataDir]);
  const cli = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await tryCli(...args);
    if (code === 0) return stdout;
    throw new Error(`waypost ${args.join(' ')} failed with exit code ${String(code)}:\n${stderr}${stdout}`);
  };
  const pidOf = (name: string): number => {
    const [pid] = info().pids[name] ?? [];
    if (pid === undefined) throw new Error(`No process of ${name} is known.`);
    return pid;
  };
  return {
    dataDir,
    info,
    cli,
    cliLines: async <T>(...args: readonly string[]) => jsonLines<T>(await cli(...args)),
    tryCli,
    async publish(fleet, pings) {
      const file = join(dataDir, `${randomUUID()}.ndjson`);
      await writeFile(file, pings.map((ping) => JSON.stringify(ping)).join('\n'));
      await cli('publish', file, '--fleet', fleet);
    },
    async createFleet(fleet, settings = {}) {
      const { apiUrl } = info();
      const { adminKey } = JSON.parse(readFileSync(join(dataDir, 'keys.json'), 'utf8')) as { adminKey: string };
      const asOperator = { authorization: `Bearer ${adminKey}` };
      await request(apiUrl, asOperator, 'POST', '/public/v1/fleets', { fleetId: fleet, ...settings });
      const ofFleet = { ...asOperator, 'x-waypost-fleet': fleet };
      const scopes = { scopes: Object.keys(SCOPES) };
      const { key } = await request<{ key: string }>(apiUrl, ofFleet, 'POST', '/public/v1/api-keys', scopes);
      createdKeys[fleet] = key;
    },
    api(fleet, method, path, json) {
      const { apiUrl, apiKeys } = info();
      return request(apiUrl, { authorization: `Bearer ${apiKeys[fleet] ?? ''}` }, method, path, json);
    },
    pidOf,
    kill(name) {
      const pid = pidOf(name);
      process.kill(pid, 'SIGKILL');
      return pid;
    },
  };
}

/** Those of the command line, which are in `stack.json` a moment later. */
function keptKeys(dataDir: string): Record<string, string> {
  const file = join(dataDir, 'api-keys.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {};
}

/** @throws when it is refused */
async function request<T>(
  apiUrl: string,
  headers: Readonly<Record<string, string>>,
  method: string,
  path: string,
  json?: object,
): Promise<T> {
  const response = await fetch(new URL(path, apiUrl), {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

function jsonLines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as T);
}

/**
 * What `npm run waypost -- ARGS` runs, here in the process of the tests: a process per command would take most of a second of
 * the processor, a hundred times. The documentation's commands, and those of main.int.spec.ts, are run as their users do.
 */
async function runCli(args: readonly string[]): Promise<CliResult> {
  const [out, err] = [memoryOutput(), memoryOutput()];
  const context = {
    terminal: { out: out.stream, err: err.stream },
    now: Date.now,
    callerDir: root,
    endWithReader: () => undefined,
  };
  const code = await runCommand(args, context);
  return { code, stdout: out.text(), stderr: err.text() };
}

function memoryOutput(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
