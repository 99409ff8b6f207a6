/**
 * The whole test suite; ends with one line, `N passed, N failed`. `test.mjs unit [PATHS]` runs one tier or
 * some of its files; any other arguments go to Jest as they are.
 */
import './prepare.mjs';
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { projectRoot, say } from './project.mjs';
import { addTotals, failedFilesOf, noTotals, totalsLine, totalsOf } from './test-totals.mjs';

/** Many tests wait for real time: some more workers than processors keep them busy. */
const FEW = Math.max(3, availableParallelism());
/** End-to-end tests share one running product, which only one of them may kill or wait for at a time. */
const WORKERS = { unit: `--maxWorkers=${FEW}`, int: '--maxWorkers=3', e2e: '--maxWorkers=1' };
/**
 * Run beside each other: end-to-end tests mostly wait, and take as long as the two other tiers together. When something
 * has to be computed for them, unit tests let it pass.
 */
const LANES = [['unit', 'int'], ['e2e']];
/** More failures than these are no accident, and would take as long as all tests. */
const MOST_FILES_AGAIN = 5;
/** Flags, not NODE_OPTIONS: the threads that run the tests have them too, the processes that tests start do not. */
const NODE_FLAGS = ['--import', './test/support/jest-loader.mjs', '--no-warnings', '--max-semi-space-size=64'];
const CHOOSES_WORKERS = /^(-i|--runInBand|-w|--maxWorkers)/;

const given = process.argv.slice(2);
process.exitCode = given.length > 0 ? await runJest(jestArguments(given)) : await runAllTiers();

/** Jest takes every value after --selectProjects for the name of a project, paths too: it comes last. */
function jestArguments([tier, ...rest]) {
  if (!Object.hasOwn(WORKERS, tier)) return [tier, ...rest];
  const workers = rest.some((argument) => CHOOSES_WORKERS.test(argument)) ? [] : [WORKERS[tier]];
  return [...rest, ...workers, '--selectProjects', tier];
}

async function runAllTiers() {
  const folder = join(projectRoot, '.waypost', 'test-results');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const runs = (await Promise.all(LANES.map((tiers) => runLane(tiers, folder)))).flat();
  let totals = noTotals;
  for (const run of runs) totals = addTotals(totals, await settle(run, folder));
  process.stdout.write(`${totalsLine(totals)}\n`);
  return totals.failed > 0 ? 1 : 0;
}

async function runLane(tiers, folder) {
  const runs = [];
  for (const tier of tiers) runs.push(await runTier(tier, join(folder, `${tier}.json`)));
  return runs;
}

async function runTier(tier, resultFile, files = []) {
  const paths = files.length > 0 ? ['--runTestsByPath', ...files] : [];
  const code = await runJest(
    jestArguments([tier, ...paths, '--passWithNoTests', '--json', '--outputFile', resultFile]),
  );
  return { tier, code, result: readResult(resultFile) };
}

/**
 * What failed beside other work runs once more, alone: only a failure that repeats is one of the product. What passes then
 * is named, because a test that a busy machine breaks has to be fixed too.
 */
async function settle({ tier, code, result }, folder) {
  const failed = failedFilesOf(result);
  if (failed.length === 0 || failed.length > MOST_FILES_AGAIN) return totalsOf(result, code);
  say(`Running again, alone: ${failed.join(' ')}`);
  const again = await runTier(tier, join(folder, `${tier}-again.json`), failed);
  const failedTwice = failedFilesOf(again.result);
  const unstable = again.result === undefined ? [] : failed.filter((file) => !failedTwice.includes(file));
  for (const file of unstable) say(`Failed once and passed when it ran again, alone: ${file}`);
  return addTotals(totalsOf(result, 0, { without: failed }), totalsOf(again.result, again.code));
}

function readResult(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    say(`Jest has left no result in ${file}.`);
    return undefined;
  }
}

function runJest(args) {
  const jest = join(projectRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  // Jest's --json takes standard output for the result; it is in the file already.
  const stdout = args.includes('--json') ? 'ignore' : 'inherit';
  const child = spawn(process.execPath, [...NODE_FLAGS, jest, ...args], {
    cwd: projectRoot,
    stdio: ['ignore', stdout, 'inherit'],
  });
  if (args.at(-1) === 'unit' && child.pid !== undefined)
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}
