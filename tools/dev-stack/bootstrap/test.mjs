/**
 * The whole test suite, tier by tier: unit tests use all cores, the others share one stack or start their own and would
 * only take the machine from each other. With arguments it is Jest with these arguments.
 *
 * Ends with one line, `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import './prepare.mjs';
import { projectRoot, say } from './project.mjs';
import { addTotals, noTotals, totalsLine, totalsOf } from './test-totals.mjs';

const TIERS = [
  ['unit', '--maxWorkers=100%'],
  ['int', '--runInBand'],
  ['e2e', '--runInBand'],
];

const given = process.argv.slice(2);
process.exitCode = given.length > 0 ? await runJest(given) : await runAllTiers();

async function runAllTiers() {
  const folder = join(projectRoot, '.waypost', 'test-results');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  let totals = noTotals;
  for (const [tier, ...flags] of TIERS) {
    const resultFile = join(folder, `${tier}.json`);
    const code = await runJest([
      '--selectProjects',
      tier,
      '--passWithNoTests',
      '--json',
      '--outputFile',
      resultFile,
      ...flags,
    ]);
    totals = addTotals(totals, totalsOf(readResult(resultFile), code));
  }
  process.stdout.write(`${totalsLine(totals)}\n`);
  return totals.failed > 0 ? 1 : 0;
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
  const env = {
    ...process.env,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --no-warnings`,
  };
  const jest = join(projectRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  // Jest's --json takes standard output for the result; it is in the file already.
  const stdout = args.includes('--json') ? 'ignore' : 'inherit';
  const child = spawn(process.execPath, [jest, ...args], {
    cwd: projectRoot,
    env,
    stdio: ['ignore', stdout, 'inherit'],
  });
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}
