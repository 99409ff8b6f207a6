import { describe, expect, it } from '@jest/globals';
import { requireTestStack } from '../../support/test-stack.js';
import { faultSuiteVerdict } from '../shared/suite-verdict.js';
import type { Verdict } from './main.js';

const { registryUrl } = requireTestStack();
/** Its schedule has what the title names. */
const seed = '334';

function faults(minutes: number): Promise<Verdict> {
  const flags = ['--runs', 'single', '--seed', seed, '--minutes', String(minutes), '--registry', registryUrl];
  return faultSuiteVerdict<Verdict>('test/faults/processor/main.ts', flags);
}

function expectIntact({ problems, injected, runs }: Verdict, leastFaults: number): void {
  expect(problems).toEqual([]);
  expect(injected).toBeGreaterThanOrEqual(leastFaults);
  const faults = Object.keys(runs[0]?.faults ?? {});
  expect(faults).toEqual(expect.arrayContaining(['broker-full', 'broker-kill', 'processor-kill', 'processor-replace']));
  expect(runs.map(({ pings, events }) => pings > 1_000 && events > 100)).toEqual([true]);
}

/** Three brokers and failover times are left to `npm run test:long`. */
describe('the committed output under faults, short form', () => {
  it('is that of an undisturbed run on a broker that is killed and runs out of disk under processors that are killed and doubled', async () => {
    expectIntact(await faults(0.3), 4);
  }, 300_000);
});
