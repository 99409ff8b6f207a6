/** Runs specs in this process repeatedly, each time with one source file changed. Communicates over the channel of `fork`. */
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runCLI } from 'jest';
import { instrumented, type Mutant, mutated } from './mutators.js';

export type WorkerRequest =
  | { readonly type: 'cover'; readonly sources: readonly string[]; readonly specs: readonly string[] }
  | { readonly type: 'mutate'; readonly file: string; readonly mutant: Mutant; readonly specs: readonly string[] };

export interface WorkerAnswer {
  /** `file#scope` of each function that ran. */
  readonly hits: readonly string[];
  /** The first failed test, or the spec that could not be loaded; null: all passed. */
  readonly failed: string | null;
}

/** What jest-transformer.mjs and jest-environment.mjs find at `globalThis.mutationRun`. */
interface MutationRun {
  rewrite(source: string, file: string): string | undefined;
  hit(file: string, scope: number): void;
  failed?: string;
}

const root = resolve(import.meta.dirname, '../..');

function inThisFolder(file: string): string {
  return resolve(import.meta.dirname, file);
}

interface Tier {
  readonly displayName: 'unit' | 'int';
  readonly globalSetup?: string;
  readonly globalTeardown?: string;
}

async function tiersOfTheProject(): Promise<readonly Tier[]> {
  const file = pathToFileURL(resolve(root, 'jest.config.js')).href;
  return ((await import(file)) as { readonly default: { readonly projects: readonly Tier[] } }).default.projects;
}

/** The aliases of tsconfig.json, which the project's runner leaves to a loader of Node. */
function moduleNameMapper(): Readonly<Record<string, string>> {
  const { compilerOptions } = JSON.parse(readFileSync(resolve(root, 'tsconfig.json'), 'utf8')) as {
    readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly [string]>> };
  };
  const aliases = Object.entries(compilerOptions.paths).map(([name, [file]]) => [`^${name}$`, resolve(root, file)]);
  return {
    ...(Object.fromEntries(aliases) as Record<string, string>),
    '^fast-check$': resolve(root, 'test/support/seeded-fast-check.mjs'),
    '^(\\.{1,2}/.*)\\.js$': '$1',
  };
}

/**
 * The project's tiers without their stacks, which the parent starts once, and under Jest's own runner: it loads every module
 * again for every run.
 */
async function configuration(run: number, specs: readonly string[]): Promise<string> {
  const wanted = new Set(specs.map((file) => (file.endsWith('.int.spec.ts') ? 'int' : 'unit')));
  const tiers = (await tiersOfTheProject()).filter(({ displayName }) => wanted.has(displayName));
  const projects = tiers.map(({ globalSetup: _up, globalTeardown: _down, ...tier }) => ({
    ...tier,
    runner: 'jest-runner',
    extensionsToTreatAsEsm: ['.ts'],
    moduleNameMapper: moduleNameMapper(),
    // Jest caches transformed files per configuration: each run needs a different one to see its mutant.
    globals: { mutationRun: run },
    testEnvironment: inThisFolder('jest-environment.mjs'),
    transform: { '^.+\\.ts$': inThisFolder('jest-transformer.mjs') },
  }));
  const cacheDirectory = resolve(root, '.waypost/mutation/cache');
  return JSON.stringify({ projects, reporters: [], testTimeout: 30_000, cacheDirectory });
}

async function answerTo(request: WorkerRequest, run: number): Promise<WorkerAnswer> {
  const hits = new Set<string>();
  const state: MutationRun = {
    rewrite: (source, path) => {
      const file = relative(root, path);
      if (request.type === 'mutate') return file === request.file ? mutated(source, request.mutant) : undefined;
      return request.sources.includes(file) ? instrumented(source, file) : undefined;
    },
    hit: (file, scope) => hits.add(`${file}#${String(scope)}`),
  };
  Object.assign(globalThis, { mutationRun: state });
  const args = { $0: 'jest', _: [...request.specs], runTestsByPath: true, runInBand: true, silent: true };
  const { results } = await runCLI({ ...args, config: await configuration(run, request.specs) }, [root]);
  const broken = results.testResults.find(({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError);
  if (results.numTotalTests === 0 && !broken) throw new Error(`There are no tests in ${request.specs.join(', ')}.`);
  return { hits: [...hits], failed: state.failed ?? (broken ? relative(root, broken.testFilePath) : null) };
}

function serve(): void {
  let runs = 0;
  // A parent that was killed by a signal does not end its worker.
  process.once('disconnect', () => process.exit());
  process.on('message', (request: WorkerRequest) => {
    void answerTo(request, ++runs).then((answer) => process.send?.(answer));
  });
}

serve();
