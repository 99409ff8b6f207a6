import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { productEnvironment } from '../support/waypost-config.js';
import type { Verdict } from './run/verdict.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const registryUrl = process.env['WAYPOST_TEST_REGISTRY_URL'] ?? '';
const seed = '20';

/** In a process of its own: what it starts must not live under Jest's NODE_ENV, and goes when it goes. */
async function faults(run: 'single' | 'cluster', minutes: number): Promise<Verdict> {
  const program = ['--import', './test/support/typescript-loader.mjs', 'test/integrity/main.ts'];
  const flags = ['--runs', run, '--seed', seed, '--minutes', String(minutes), '--registry', registryUrl];
  try {
    const options = { cwd: root, env: productEnvironment() };
    const { stdout } = await promisify(execFile)(process.execPath, [...program, ...flags], options);
    return JSON.parse(stdout) as Verdict;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    if (!stdout.startsWith('{')) throw new Error(stderr, { cause: error });
    return JSON.parse(stdout) as Verdict;
  }
}

function expectIntact({ problems, injected, runs }: Verdict, leastFaults: number): void {
  expect(problems).toEqual([]);
  expect(injected).toBeGreaterThanOrEqual(leastFaults);
  expect(runs.map(({ pings, events }) => pings > 1_000 && events > 100)).toEqual([true]);
}

describe('the committed output under faults, short form', () => {
  it('is that of an undisturbed run on a broker that is killed and restarted under processors that are, too', async () => {
    expectIntact(await faults('single', 0.5), 8);
  }, 300_000);

  it('is that of an undisturbed run on three brokers of which any one may fall, coordinators included', async () => {
    expectIntact(await faults('cluster', 0.3), 3);
  }, 300_000);
});
