/**
 * What is too slow for every push: the property tests with ten times as many runs, the long forms of the three fault
 * suites and the bugs planted for them, a soak run, the end-to-end suites on all recorded traffic, the
 * fuzzing of the API, every alert, every panel in a real Prometheus, and what deploys. All of it by one seed, which is
 * random unless given: `--seed 7`. Takes about 60 minutes; `--only faults` (or properties, judges, soak, e2e, verifiers, permissions, moves, kills,
 * contract, alerts, deploy, site) runs a part.
 */
import './prepare.mjs';
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { projectRoot, say } from './project.mjs';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: String(randomInt(1_000_000)) }, only: { type: 'string' } },
});
const { seed } = values;
const properties = {
  PROPERTY_SEED: seed,
  PROPERTY_RUNS_FACTOR: '10',
  WAYPOST_UNIT_TIMEOUT_MS: '600000',
  WAYPOST_LONG_TESTS: 'true',
};

const steps = [
  ['properties', 'test:unit', [], properties],
  ['faults', 'test:integrity', ['--seed', seed]],
  ['faults', 'test:delivery-integrity', ['--seed', seed]],
  ['faults', 'test:projection-integrity', ['--seed', seed]],
  ['soak', 'soak', ['--seed', seed, '--minutes', '10']],
  ['judges', 'test:judges', []],
  [
    'e2e',
    'test:e2e',
    ['kill-each-app', 'pipeline', 'traces', 'documented', 'examples', 'e2e/console'],
    { WAYPOST_LONG_TESTS: 'true' },
  ],
  [
    'verifiers',
    'test:int',
    ['packages/verify-', 'verification-code', 'generated-clients', 'packed-client'],
    { WAYPOST_LONG_TESTS: 'true' },
  ],
  ['permissions', 'test:int', ['kafka-permissions'], { WAYPOST_LONG_TESTS: 'true' }],
  ['moves', 'test:int', ['state-transfer'], { WAYPOST_LONG_TESTS: 'true' }],
  ['kills', 'test:int', ['supervisor', 'replay.task'], { WAYPOST_LONG_TESTS: 'true' }],
  ['contract', 'test:contract', ['--seed', seed, '--examples', '200']],
  ['alerts', 'test:alerts', []],
  // Uses the Prometheus that the step before has unpacked.
  ['alerts', 'test:e2e', ['e2e/prometheus'], { WAYPOST_LONG_TESTS: 'true' }],
  ['deploy', 'test:deploy', []],
  ['site', 'docs:site', []],
].filter(([part]) => values.only === undefined || part === values.only);

say(`Seed ${seed}: repeat with npm run test:long -- --seed ${seed}`);
const failed = steps.filter(([, script, args, env]) => {
  say(`npm run ${script} -- ${args.join(' ')}`);
  const options = { cwd: projectRoot, stdio: 'inherit', env: { ...process.env, ...env } };
  return spawnSync('npm', ['run', '-s', script, '--', ...args], options).status !== 0;
});
say(
  failed.length === 0
    ? `All passed, seed ${seed}`
    : `Failed with seed ${seed}: ${failed.map(([, name]) => name).join(', ')}`,
);
process.exitCode = failed.length > 0 || steps.length === 0 ? 1 : 0;
