/**
 * Tests with other versions of Node: `npm run test:nodes -- --versions 20.19.0,22 --tiers unit,int`. The npm package
 * `node` brings the binaries, which stay in .waypost/node. Of the end-to-end tests one suite runs.
 */
import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { parseArgs } from 'node:util';
import { binariesOf } from './node-versions.mjs';
import { projectRoot, say } from './project.mjs';

const TIERS = { unit: ['test:unit'], int: ['test:int'], e2e: ['test:e2e', '--', 'retries'] };

const { values } = parseArgs({
  options: {
    versions: { type: 'string', default: '20,22,24' },
    tiers: { type: 'string', default: Object.keys(TIERS).join() },
  },
});

const failed = values.versions.split(',').flatMap((version) => {
  const env = { ...process.env, PATH: [binariesOf(version), process.env.PATH].join(delimiter) };
  return values.tiers
    .split(',')
    .filter((tier) => {
      const { stdout } = spawnSync('node', ['--version'], { env, encoding: 'utf8' });
      say(`The ${tier} tests with Node ${stdout.trim()}`);
      return spawnSync('npm', ['run', '-s', ...TIERS[tier]], { cwd: projectRoot, env, stdio: 'inherit' }).status !== 0;
    })
    .map((tier) => `${tier} with ${version}`);
});
say(failed.length === 0 ? 'All passed' : `Failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
