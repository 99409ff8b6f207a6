/*
 * The contract test: `npm run test:contract -- --seed 7 --examples 200`. Fuzzes public-api by its own OpenAPI document.
 * Says what it does on standard error and its verdict as one line of JSON on standard output; ends with 0 when every
 * answer was as documented, 1 when one was not, 2 for a wrong flag, and 77 when there is no Python to run it with.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectFile } from '../../tools/dev-stack/project-root.js';
import { createTerminalReporter, type StackReporter } from '../../tools/dev-stack/stack-reporter.js';
import { type ContractOptions, readOptions } from './contract-config.js';
import { fuzz } from './run/fuzz.js';
import { pythonEnvironment } from './run/python-environment.js';
import { openContractStage } from './run/stage.js';

const SHOWN = 20;
const EXIT = { kept: 0, broken: 1, misused: 2, skipped: 77 } as const;

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function optionsOrExit(): ContractOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exit(EXIT.misused);
  }
}

async function run(options: ContractOptions): Promise<number> {
  const { seed, pythonEnv } = options;
  const reporter = createTerminalReporter({ stream: process.stderr });
  const found = await pythonEnvironment(projectFile('test/contract/requirements.txt'), pythonEnv, reporter);
  if (found.type === 'missing') {
    say(`The contract test is skipped: ${found.reason}`);
    process.stdout.write(`${JSON.stringify({ contract: 'skipped', seed })}\n`);
    return EXIT.skipped;
  }
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'waypost-contract-')));
  // As root, PostgreSQL runs as another user, who has to get in.
  if (options.folder === undefined) await chmod(folder, 0o711);
  const isKept = await fuzzStage({ ...options, python: found.python, folder, reporter });
  if (isKept && options.folder === undefined) await rm(folder, { recursive: true, force: true });
  else say(`Logs and report: ${folder}`);
  return isKept ? EXIT.kept : EXIT.broken;
}

interface StageRun extends ContractOptions {
  readonly python: string;
  readonly folder: string;
  readonly reporter: StackReporter;
}

/** Prints the verdict. @returns whether every answer was as documented, and nothing went wrong inside */
async function fuzzStage({
  seed,
  examples,
  env,
  pythonEnv,
  python,
  folder,
  reporter,
  dist,
}: StageRun): Promise<boolean> {
  const stage = await openContractStage({ folder, dist: dist ?? projectFile('dist'), env, reporter });
  try {
    const { apiUrl, keys } = stage;
    const { isClean, ...counts } = await fuzz({ python, env: pythonEnv, apiUrl, keys, seed, examples, folder });
    const complaints = await stage.complaints();
    for (const complaint of complaints.slice(0, SHOWN)) say(`public-api has logged: ${complaint.slice(0, 1_000)}`);
    const isKept = isClean && complaints.length === 0;
    const verdict = { contract: isKept ? 'kept' : 'broken', seed, ...counts, complaints: complaints.length };
    process.stdout.write(`${JSON.stringify(verdict)}\n`);
    return isKept;
  } finally {
    await stage.stop();
  }
}

try {
  process.exit(await run(optionsOrExit()));
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(EXIT.broken);
}
