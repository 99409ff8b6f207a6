import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFile } from '../../../tools/dev-stack/project-root.js';

/** The key of a fleet. */
export interface ContractKey {
  readonly fleetId: string;
  readonly id: string;
  readonly key: string;
  /** One that exists, of one of its subscriptions. */
  readonly replay: { readonly subscriptionId: string; readonly replayId: string };
}

export interface FuzzOptions {
  /** Of the environment that has schemathesis. */
  readonly python: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly apiUrl: string;
  /** Keys of fleets that must not see each other's things. */
  readonly keys: readonly ContractKey[];
  readonly seed: number;
  readonly examples: number;
  /** For its report and its list of keys. */
  readonly folder: string;
}

export interface FuzzResult {
  readonly operations: number;
  readonly cases: number;
  /** Different ones. */
  readonly failures: number;
  /** Also requests that could not be made, and what schemathesis.toml forbids. */
  readonly isClean: boolean;
}

/** Runs schemathesis on what the API says of itself, with every check that it has. Its output goes to standard error. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { python, env, apiUrl, keys, seed, examples, folder } = options;
  const report = join(folder, 'report.json');
  await writeFile(join(folder, 'keys.json'), JSON.stringify(authFile(keys)), { mode: 0o600 });
  await writeFile(join(folder, 'schemathesis.toml'), await settings(keys.map(({ fleetId }) => fleetId)));
  const args = [
    ...['-m', 'schemathesis.cli', '--config-file', join(folder, 'schemathesis.toml')],
    ...['run', `${apiUrl}/public/openapi.json`, '--checks', 'all', '--continue-on-failure', '--no-color'],
    ...['--seed', String(seed), '--max-examples', String(examples), '--generation-database', 'none'],
    ...['--report', 'json', '--report-json-path', report],
  ];
  const hooks = {
    SCHEMATHESIS_HOOKS: projectFile('test/contract/hooks.py'),
    CONTRACT_KEY_IDS: keys.map(({ id }) => id).join(','),
    CONTRACT_REPLAY: keys.map(({ replay }) => `${replay.subscriptionId}/${replay.replayId}`)[0],
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const child = spawn(python, args, { cwd: folder, env: { ...env, ...hooks }, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.pipe(process.stderr);
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...counted(await readFile(report, 'utf8').catch(() => null)), isClean: code === 0 };
}

/** In the format of Web Fuzzing Commons, which schemathesis reads. */
function authFile(keys: FuzzOptions['keys']): object {
  const auth = keys.map(({ fleetId, key }) => ({
    name: fleetId,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${key}` }],
  }));
  return { auth };
}

async function settings(peers: readonly string[]): Promise<string> {
  const fixed = await readFile(projectFile('test/contract/schemathesis.toml'), 'utf8');
  return `${fixed}\n[auth.wfc]\npath = "keys.json"\npeers = ${JSON.stringify(peers)}\n`;
}

/** Nothing when it ended before it could say anything. */
function counted(report: string | null): Omit<FuzzResult, 'isClean'> {
  if (report === null) return { operations: 0, cases: 0, failures: 0 };
  const { operations, test_cases: cases } = JSON.parse(report) as {
    operations: { tested: number };
    test_cases: { generated: number; unique_failures: number };
  };
  return { operations: operations.tested, cases: cases.generated, failures: cases.unique_failures };
}
