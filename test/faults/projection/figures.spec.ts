import { describe, expect, it } from '@jest/globals';
import { attemptOf } from '../../support/samples.js';
import { compareFigures, figuresOfRow, type StoredFigures } from './figures.js';
import { foldLog } from './fold-log.js';

const NOW = Date.UTC(2026, 5, 20, 12);
const FIRST = attemptOf({
  firstAttemptAt: NOW,
  deliveryCreatedAt: NOW - 10,
  dueAt: NOW,
  startedAt: NOW,
  durationMs: 5,
  statusCode: 503,
  outcome: 'retrying',
  decision: 'temporary_status',
  nextDueAt: NOW + 2_000,
  body: '{}',
});
const SECOND = {
  ...FIRST,
  attempt: 2,
  body: null,
  dueAt: NOW + 2_000,
  startedAt: NOW + 2_030,
  durationMs: 60,
  ...{ statusCode: 200, outcome: 'delivered', decision: 'accepted', nextDueAt: null },
};
const ROWS = [...foldLog([FIRST, SECOND], NOW).values()];
const MINUTE = String(NOW);
/** Its subscription, and its fleet among all. */
const KEYS = [`${FIRST.fleetId} ${FIRST.subscriptionId} ${FIRST.eventType}`, `* ${FIRST.fleetId} `];

/** 2,100 ms are in bucket 81 (1.1^80 is 2,048), 30 ms in 36 (1.1^35 is 28). */
const RIGHT = '[1,1,0,0,1,0,[1,0,0,1,0,0],[81,1],[36,1]]';

function stored(figures: string, keys: readonly string[] = KEYS): StoredFigures[] {
  const day = String(Date.UTC(2026, 5, 20));
  const buckets = [`1 ${MINUTE}`, `60 ${MINUTE}`, `1440 ${day}`];
  return keys.flatMap((key) => buckets.map((bucket) => ({ key: `${key} ${bucket}`, figures })));
}

describe('the judge of the figures', () => {
  it('finds nothing when they count the deliveries, in however many rows', () => {
    expect(compareFigures(stored(RIGHT), ROWS)).toEqual([]);
    const first = stored('[1,0,0,0,0,0,[0,0,0,1,0,0],[],[]]');
    expect(compareFigures([...first, ...stored('[0,1,0,0,1,0,[1,0,0,0,0,0],[81,1],[36,1]]')], ROWS)).toEqual([]);
  });

  it.each([
    ['an attempt that counts twice', '[1,1,0,0,1,0,[2,0,0,1,0,0],[81,1],[36,1]]'],
    ['an attempt of another class', '[1,1,0,0,1,0,[1,0,1,0,0,0],[81,1],[36,1]]'],
    ['a latency that counts twice', '[1,1,0,0,1,0,[1,0,0,1,0,0],[81,2],[36,1]]'],
    ['a latency from the first attempt on', '[1,1,0,0,1,0,[1,0,0,1,0,0],[80,1],[36,1]]'],
    ['a lateness that is lost', '[1,1,0,0,1,0,[1,0,0,1,0,0],[81,1],[]]'],
    ['a delivery that failed', '[1,0,1,0,1,0,[1,0,0,1,0,0],[81,1],[36,1]]'],
  ])('finds %s', (_, figures) => {
    const [own = '', amongAll = ''] = KEYS;
    expect(compareFigures(stored(figures), ROWS)).not.toEqual([]);
    expect(compareFigures([...stored(RIGHT, [own]), ...stored(figures, [amongAll])], ROWS)).not.toEqual([]);
  });

  it('counts the minutes of an hour as minutes only, and those of a day in its hours and in the day too', () => {
    const [day, hour] = [Date.UTC(2026, 5, 20), NOW - 3_600_000];
    const first = '[1,,,,,,[,,,1,,],[],[]]';
    const second = '[,1,,,1,,[1,,,,,],[81,1],[36,1]]';
    const rowsAt = (startMs: number, minute: number) =>
      KEYS.flatMap((of) => [
        { of, step: 1_441, startMs: day, figures: second, minutes: `720${first}` },
        { of, step: 61, startMs, figures: second, minutes: `${String(minute)}${second}` },
      ]);
    expect(compareFigures(rowsAt(NOW, 0).flatMap(figuresOfRow), ROWS)).toEqual([]);
    expect(compareFigures(rowsAt(hour, 59).flatMap(figuresOfRow), ROWS)).not.toEqual([]);
  });
});
