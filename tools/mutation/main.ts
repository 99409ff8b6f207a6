/**
 * The mutation run: changes one spot of the product at a time and expects a unit or integration test to fail.
 * docs/reference/mutation.md explains the options and the results.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../simulator/random.js';
import { type Mutant, mutantsOf } from './mutators.js';
import { isKilled, keyOf, markdownOf, type MutantResult, scoreOf } from './report.js';
import { type Verdict, Worker } from './worker-pool.js';

const AREAS = ['libs/domain', 'apps/webhook-delivery', 'apps/history-projector', 'libs/history-store'];
const SPEC = /\.spec\.ts$/;
/** Files that start a process, generated types, and files that only tests use. */
const NOT_MUTATED = /(\.(spec|contract|module|app|d)|\/(main|index))\.ts$|\/(testing|records|generated|tutorial)\//;
const COVER_TIMEOUT_MS = 180_000;

interface Options {
  readonly paths: readonly string[];
  readonly specPaths: readonly string[];
  readonly sample: number;
  readonly seed: number;
  readonly name: string;
  /** Retries only those that survived the last run of this name. */
  readonly survivorsOnly: boolean;
}

interface Spec {
  readonly file: string;
  readonly durationMs: number;
  readonly hits: ReadonlySet<string>;
}

type Candidate = Mutant & { readonly file: string; readonly original: string };

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      specs: { type: 'string', multiple: true },
      name: { type: 'string' },
      survivors: { type: 'boolean', default: false },
    },
  });
  const paths = positionals.length > 0 ? positionals : AREAS;
  return {
    paths,
    specPaths: values.specs ?? [...new Set(paths.map((path) => path.split('/').slice(0, 2).join('/')))],
    sample: values.sample === undefined ? Infinity : Number(values.sample),
    seed: Number(values.seed),
    name: values.name ?? paths.join('+').replaceAll('/', '-'),
    survivorsOnly: values.survivors,
  };
}

function filesIn(path: string): string[] {
  if (path.endsWith('.ts')) return [path];
  const inside = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return inside
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => join(path, file));
}

function candidatesOf(file: string): Candidate[] {
  const text = readFileSync(file, 'utf8');
  return mutantsOf(text).map((mutant) => ({ ...mutant, file, original: text.slice(mutant.start, mutant.end) }));
}

/** The same seed and sources give the same sample. */
function sampleOf<T>(all: readonly T[], size: number, seed: number): T[] {
  if (size >= all.length) return [...all];
  const random = createRandom(seed);
  return all
    .map((item, index) => ({ item, index, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, size)
    .sort((a, b) => a.index - b.index)
    .map(({ item }) => item);
}

/** Runs each spec once, unchanged, to find out what it covers and how long it takes. */
async function coverage(worker: Worker, files: readonly string[], sources: readonly string[]): Promise<Spec[]> {
  const specs: Spec[] = [];
  for (const file of files) {
    const startedAt = performance.now();
    const verdict = await worker.run({ type: 'cover', sources, specs: [file] }, COVER_TIMEOUT_MS);
    const durationMs = performance.now() - startedAt;
    const problem = verdict.type === 'timeout' ? 'it takes too long' : verdict.answer.failed;
    if (verdict.type === 'timeout' || problem !== null) {
      say(`left out, since it fails without a mutant: ${file}: ${problem ?? ''}`);
      continue;
    }
    specs.push({ file, durationMs, hits: new Set(verdict.answer.hits) });
  }
  return specs;
}

function partsShared(a: string, b: string): number {
  const [left, right] = [dirname(a).split('/'), dirname(b).split('/')];
  const end = left.findIndex((part, index) => part !== right[index]);
  return end < 0 ? left.length : end;
}

/** The spec of the same name first, then by folder, then the fast ones. */
function specsFor({ file, scope }: Candidate, specs: readonly Spec[]): Spec[] {
  const stem = basename(file, '.ts');
  const isOwn = (spec: Spec): number => (basename(spec.file).startsWith(`${stem}.`) ? 1 : 0);
  return specs
    .filter(({ hits }) => hits.has(`${file}#${String(scope)}`))
    .sort(
      (a, b) =>
        isOwn(b) - isOwn(a) || partsShared(file, b.file) - partsShared(file, a.file) || a.durationMs - b.durationMs,
    );
}

async function tryMutant(worker: Worker, candidate: Candidate, specs: readonly Spec[]): Promise<MutantResult> {
  const covering = specsFor(candidate, specs);
  if (covering.length === 0) return { ...candidate, status: 'uncovered', by: null };
  const { file, line, start, end, replacement, mutator, scope } = candidate;
  const mutant: Mutant = { line, start, end, replacement, mutator, scope };
  // Runs the most likely spec by itself, then all others at once.
  for (const some of [covering.slice(0, 1), covering.slice(1)].filter(({ length }) => length > 0)) {
    const usualMs = some.reduce((sum, { durationMs }) => sum + durationMs, 0);
    const request = { type: 'mutate', file, mutant, specs: some.map((spec) => spec.file) } as const;
    const verdict: Verdict = await worker.run(request, 4 * usualMs + 10_000);
    if (verdict.type === 'timeout') return { ...candidate, status: 'timeout', by: some[0]?.file ?? null };
    if (verdict.answer.failed !== null) return { ...candidate, status: 'killed', by: verdict.answer.failed };
  }
  return { ...candidate, status: 'survived', by: null };
}

function save(name: string, results: readonly MutantResult[]): void {
  const folder = '.waypost/mutation';
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(results, null, 1));
  writeFileSync(join(folder, `${name}.md`), markdownOf(name, results));
}

function previous(name: string): MutantResult[] {
  const file = `.waypost/mutation/${name}.json`;
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as MutantResult[]) : [];
}

/** Starts one stack for all integration tests. @returns a function that stops it */
async function startStack(): Promise<() => Promise<void>> {
  const path = '../../test/support/int-stack/start.mjs';
  const stack = (await import(path)) as { default: () => Promise<void>; stopStack: () => Promise<void> };
  await stack.default();
  return stack.stopStack;
}

interface Choice {
  readonly chosen: readonly (Candidate | MutantResult)[];
  readonly done: MutantResult[];
}

function chooseMutants({ sample, seed, name, survivorsOnly }: Options, sources: readonly string[]): Choice {
  const all = sources.flatMap(candidatesOf);
  if (!survivorsOnly) return { chosen: sampleOf(all, sample, seed), done: [] };
  const before = new Map(previous(name).map((result) => [keyOf(result), result]));
  const known = all.flatMap((candidate) => before.get(keyOf(candidate)) ?? []);
  return { chosen: known.filter((result) => !isKilled(result)), done: known.filter(isKilled) };
}

async function mutate(options: Options, worker: Worker): Promise<void> {
  const sources = options.paths.flatMap(filesIn).filter((file) => !NOT_MUTATED.test(`/${file}`));
  const specFiles = [...new Set(options.specPaths.flatMap(filesIn))].filter((file) => SPEC.test(file)).sort();
  const { chosen, done } = chooseMutants(options, sources);
  say(`${options.name}: ${chosen.length} mutants in ${sources.length} files, ${specFiles.length} specs`);
  const specs = await coverage(worker, specFiles, sources);
  const results = done;
  for (const [index, candidate] of chosen.entries()) {
    const result = await tryMutant(worker, candidate, specs);
    results.push(result);
    const { file, line, original, replacement, status } = result;
    if (!isKilled(result)) say(`${status} ${file}:${line} ${original.slice(0, 60)} -> ${replacement.slice(0, 60)}`);
    if (index % 10 === 9) {
      say(`${index + 1} of ${chosen.length}, ${scoreOf(results).percent.toFixed(1)} % of those tried killed`);
      // Survivors that are not retried yet keep their result.
      save(options.name, [...results, ...chosen.slice(index + 1).filter((one) => 'status' in one)]);
    }
  }
  save(options.name, results);
  const { mutants, killed, percent } = scoreOf(results);
  process.stdout.write(`${JSON.stringify({ name: options.name, seed: options.seed, mutants, killed, percent })}\n`);
}

async function main(): Promise<void> {
  const options = readOptions();
  const needsStack = options.specPaths.flatMap(filesIn).some((file) => file.endsWith('.int.spec.ts'));
  const stopStack = needsStack ? await startStack() : undefined;
  const worker = new Worker();
  try {
    await mutate(options, worker);
  } finally {
    worker.stop();
    await stopStack?.();
  }
}

await main();
