import { describe, expect, it } from '@jest/globals';
import { faultSuiteVerdict } from '../shared/suite-verdict.js';
import type { Verdict } from './main.js';

const registryUrl = process.env['WAYPOST_TEST_REGISTRY_URL'] ?? '';
const seed = '20';

function faults(minutes: number): Promise<Verdict> {
  const flags = ['--runs', 'single', '--seed', seed, '--minutes', String(minutes), '--registry', registryUrl];
  return faultSuiteVerdict<Verdict>('test/faults/processor/main.ts', flags);
}

function expectIntact({ problems, injected, runs }: Verdict, leastFaults: number): void {
  expect(problems).toEqual([]);
  expect(injected).toBeGreaterThanOrEqual(leastFaults);
  expect(runs.map(({ pings, events }) => pings > 1_000 && events > 100)).toEqual([true]);
}

/** Three brokers and failover times are left to `npm run test:long`. */
describe('the committed output under faults, short form', () => {
  it('is that of an undisturbed run on a broker that is killed and restarted under processors that are, too', async () => {
    expectIntact(await faults(0.3), 4);
  }, 300_000);
});
