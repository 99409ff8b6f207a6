import { describe, expect, it } from '@jest/globals';
import { percentilesOf } from '../../shared/statistics.js';
import type { BesideRun } from '../scenarios/neighbors.js';
import { isolationSection, pictureOf } from './isolation-page.js';
import { mergeResults, type SavedResults } from './saved-results.js';

function run(kind: string, neighbors: number, p99: number): BesideRun {
  return {
    kind,
    neighbors,
    share: 0.2,
    perSecond: 360,
    aloneMs: percentilesOf([20]),
    besideMs: percentilesOf([p99]),
    p99Ratio: p99 / 20,
    aloneSpread: 1.1,
    rateRatio: 1,
  };
}

const SAVED: SavedResults = {
  machine: 'another machine',
  inputs: ['600 deliveries/s'],
  isolation: [run('refuse', 40, 21), run('silent', 40, 22)],
  punctuality: [],
  stages: [],
};
const MEASURED = { isolation: [run('silent', 200, 24), run('silent', 40, 23)], punctuality: [], stages: [] };

describe('The results of docs/isolation.md', () => {
  const { isolation } = mergeResults(SAVED, MEASURED);

  it('keep the rows that were not measured again, and replace the others', () => {
    expect(isolation.map(({ kind, neighbors, besideMs }) => [kind, neighbors, besideMs.p99])).toEqual([
      ['refuse', 40, 21],
      ['silent', 40, 23],
      ['silent', 200, 24],
    ]);
  });

  it('are listed by kind and number of neighbors', () => {
    const [, table = ''] = isolationSection(isolation);
    const rows = table.split('\n').slice(2);
    expect(rows.map((row) => row.split('|').slice(1, 3).join().replaceAll(' ', ''))).toEqual([
      'neveranswers,40',
      'neveranswers,200',
      'refusesconnections,40',
    ]);
    expect(rows[0]).toContain('| 20 / 20 | 23 / 23 | 1.15 | 1.10 | 1.000 |  |');
  });

  it('are drawn with a panel for each kind and a bar for each number of neighbors', () => {
    const bars = [...pictureOf(isolation).matchAll(/>(alone|beside \d+)</g)].map(([, name]) => name);
    expect(bars).toEqual(['alone', 'beside 40', 'beside 200', 'alone', 'beside 40']);
  });
});
