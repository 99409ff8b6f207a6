import { describe, expect, it } from '@jest/globals';
import { driftProblems, driftsOf } from './drift.js';
import type { Sample } from './samples.js';

const RUN_MS = 1_800_000;

/** A sample each 10 s, with values by the share of the run that is over. */
function samplesOf(valueOf: (share: number) => number, kind: 'residentMiB' | 'handles' | 'lag'): Sample[] {
  return Array.from({ length: 181 }, (_, number) => ({
    atMs: number * 10_000,
    residentMiB: {},
    handles: {},
    lag: {},
    [kind]: { app: valueOf(number / 180) },
  }));
}

describe('the drift of a soak run (R-40)', () => {
  it.each([
    ['memory that grows from 150 to 400 MiB', 'residentMiB', (share: number) => 150 + 250 * share],
    ['a handle that each retry leaves open', 'handles', (share: number) => 60 + 900 * share],
    ['a backlog that nobody works off', 'lag', (share: number) => 100_000 * share],
  ] as const)('shows %s', (_, kind, valueOf) => {
    const problems = driftProblems(driftsOf(samplesOf(valueOf, kind), [], RUN_MS));
    expect(problems).toEqual([expect.stringMatching(/app: from /)]);
  });

  it.each([
    ['memory that grows while it is warming up', 'residentMiB', (share: number) => (share < 0.2 ? 60 : 180)],
    ['memory that goes up and down', 'residentMiB', (share: number) => 150 + 40 * Math.sin(share * 90)],
    ['a backlog after a fault', 'lag', (share: number) => (share > 0.8 && share < 0.85 ? 50_000 : 10)],
  ] as const)('does not show %s', (_, kind, valueOf) => {
    const drifts = driftsOf(samplesOf(valueOf, kind), [], RUN_MS);
    expect(drifts).toHaveLength(1);
    expect(driftProblems(drifts)).toEqual([]);
  });

  it('shows retries that are later and later', () => {
    const retries = (lateOf: (share: number) => number) =>
      Array.from({ length: 1_000 }, (_, number) => ({ dueMs: number * 1_800, lateMs: lateOf(number / 1_000) }));
    expect(
      driftProblems(
        driftsOf(
          [],
          retries((share) => 5_000 * share),
          RUN_MS,
        ),
      ),
    ).toHaveLength(1);
    expect(
      driftProblems(
        driftsOf(
          [],
          retries(() => 20),
          RUN_MS,
        ),
      ),
    ).toEqual([]);
  });

  it('says nothing of a run that was too short to say it', () => {
    expect(driftsOf(samplesOf(() => 1, 'lag').slice(0, 8), [], 70_000)).toEqual([]);
  });
});
