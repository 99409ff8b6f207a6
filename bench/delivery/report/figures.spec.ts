import { describe, expect, it } from '@jest/globals';
import { percentilesOf } from '../../shared/statistics.js';
import type { BenchResults } from '../measure-all.js';
import { jsonLine } from './figures.js';

const NOTHING: BenchResults = {
  capacity: null,
  healthy: null,
  latency: null,
  fanOut: null,
  slow: null,
  dead: [],
  isolation: [],
  stages: [],
  punctuality: [],
  failing: null,
  backlog: null,
  lateness: null,
  kill: null,
};
const ASKED_FOR = [
  'deliveriesPerSecond',
  'latencyP50Ms',
  'latencyP99Ms',
  'deadEndpointP99Ratio',
  'retryLatenessP99Ms',
  'lost',
  'answeredTwicePerKill',
  'againAfterKillMs',
  'wrongAttemptCounts',
  'cpuSecondsPer1000',
];
function dead(share: number, p99Ratio: number) {
  const some = percentilesOf([1]);
  return {
    kind: 'silent',
    neighbors: 1,
    perSecond: 1,
    aloneMs: some,
    besideMs: some,
    rateRatio: 1,
    aloneSpread: 1,
    share,
    p99Ratio,
  };
}

function parsed(results: Partial<BenchResults>): Record<string, unknown> {
  return JSON.parse(jsonLine({ ...NOTHING, ...results })) as Record<string, unknown>;
}

describe('The JSON line of the delivery benchmark', () => {
  it('says null of everything that was not measured', () => {
    const line = parsed({});
    expect(line['bench']).toBe('delivery');
    for (const name of ASKED_FOR) expect([name, line[name]]).toEqual([name, null]);
  });

  it('gives the worst ratio of the dead endpoints', () => {
    const line = parsed({ dead: [dead(0.01, 1.02), dead(0.2, 1.0849), dead(0.01, 1.03)] });
    expect([line['deadEndpointP99Ratio'], line['deadP99RatioOnePercent']]).toEqual([1.085, 1.03]);
  });

  it('gives the worse of the kills', () => {
    const line = parsed({
      kill: {
        accepted: 100,
        lost: 0,
        answeredTwice: [3, 5],
        inFlight: [80, 81],
        neverAgain: 0,
        againAfterMs: percentilesOf([900, 1_200]),
        failing: { deliveries: 10, wrongCounts: 2, wrongNumbers: 1, changedIds: 0 },
        latenessAcrossMs: percentilesOf([4]),
      },
    });
    expect([line['lost'], line['answeredTwicePerKill'], line['againAfterKillMs']]).toEqual([0, 5, 1_200]);
    expect([line['wrongAttemptCounts'], line['wrongAttemptNumbers']]).toEqual([2, 1]);
  });
});
