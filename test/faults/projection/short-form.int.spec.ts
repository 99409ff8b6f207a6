import { describe, expect, it } from '@jest/globals';
import { faultSuiteVerdict } from '../shared/suite-verdict.js';
import type { ProjectionVerdict } from './main.js';

const registry = ['--registry', process.env['WAYPOST_TEST_REGISTRY_URL'] ?? ''];
const program = 'test/faults/projection/main.ts';

/** The database that is away is left to `npm run test:long`. */
describe('the history under faults, short form (R-24, R-35)', () => {
  it('equals the fold of the attempts log after kills, cuts, a rival and a full disk, and is the same when rebuilt', async () => {
    // Its schedule has what the title names.
    const flags = ['--seed', '152550', '--minutes', '0.15', '--outage-minutes', '0', '--rate', '1000', ...registry];
    const { faults } = await faultSuiteVerdict<ProjectionVerdict>(program, flags);

    expect(faults?.problems).toEqual([]);
    const made = Object.keys(faults?.faults ?? {});
    expect(made).toEqual(
      expect.arrayContaining([
        'broker-kill',
        'database-full',
        'database-kill',
        'network-cut',
        'projector-kill',
        'rival',
      ]),
    );
    expect(faults?.rivalBatches).toBeGreaterThan(0);
    expect(faults?.attempts).toBeGreaterThan(5_000);
    expect(faults?.rows).toBeGreaterThan(2_000);
    expect(faults?.points).toBeGreaterThan(1_000);
    expect(faults?.rebuiltAfterMs).not.toBeNull();
  }, 240_000);
});
