import { describe, expect, it } from '@jest/globals';
import { assertSelective, isWanted, type RejectedSelection } from './rejected-selection.js';

const everything: RejectedSelection = { ids: [], topic: null, reason: null, device: null, from: null, to: null };
const record = {
  id: '2:15',
  telemetry: { sourceTopic: 'telemetry.pings', reason: 'malformed', sourceKey: Buffer.from('bus-7') },
};

describe('A selection of rejected pings', () => {
  it.each<[Partial<RejectedSelection>, boolean]>([
    [{}, true],
    [{ ids: ['2:15', '0:1'] }, true],
    [{ ids: ['2:16'] }, false],
    [{ topic: 'telemetry.pings' }, true],
    [{ topic: 'webhook.attempts' }, false],
    [{ reason: 'malformed' }, true],
    [{ reason: 'future' }, false],
    [{ device: 'bus-7' }, true],
    [{ device: 'bus-8' }, false],
    [{ ids: ['2:15'], reason: 'future' }, false],
  ])('means those that all of it holds for: %j', (selection, expected) => {
    expect(isWanted(record, { ...everything, ...selection })).toBe(expected);
  });

  it('must say which to publish again, or that all are meant', () => {
    expect(() => assertSelective(everything, false)).toThrow(expect.objectContaining({ exitCode: 2 }));
    expect(assertSelective(everything, true)).toBe(everything);
    expect(() => assertSelective({ ...everything, reason: 'future' }, true)).toThrow('not both');
    expect(() => assertSelective({ ...everything, ids: ['15'] }, false)).toThrow('partition:offset');
  });

  it.each<Partial<RejectedSelection>>([
    { ids: ['2:15'] },
    { topic: 'webhook.attempts' },
    { reason: 'future' },
    { device: 'bus-7' },
    { from: 0 },
    { to: 0 },
  ])('is enough with %j alone', (part) => {
    const selection = { ...everything, ...part };
    expect(assertSelective(selection, false)).toBe(selection);
  });
});
