import { describe, expect, it } from '@jest/globals';
import { type Answer, answerText, isSameAnswer, parseAnswer } from './answer.js';

const expected: Answer = { events: 3, hash: '00000000000000aa', content: null };
const found: Answer = { events: 3, hash: '00000000000000aa', content: '00000000000000bb' };

describe('An answer', () => {
  it('is read from the line of a program', () => {
    const line = 'events=503671 {ignition_off=1, position=503670} hash=dc7b109bc738d7a6 content=0123456789abcdef\n';
    expect(parseAnswer(line)).toEqual({ events: 503_671, hash: 'dc7b109bc738d7a6', content: '0123456789abcdef' });
  });

  it('has no content when it was worked out without Kafka', () => {
    const line =
      'loaded 9 pings; from an empty state they give events=3 {} hash=00000000000000aa content=0000000000000000';
    expect(parseAnswer(line)).toEqual(expected);
  });

  it('is not made up when the line has none', () => expect(() => parseAnswer('events=12')).toThrow('Not an answer'));

  it('can be read by people', () => {
    expect(answerText(expected)).toBe('3 events, hash 00000000000000aa');
    expect(answerText(found)).toBe('3 events, hash 00000000000000aa, content 00000000000000bb');
  });
});

describe('The same answer', () => {
  it('is the expected state in every run, with the same bytes', () => {
    expect(isSameAnswer(expected, [found, { ...found }])).toBe(true);
  });

  it.each([
    ['an event too many', { ...found, events: 4 }],
    ['other events', { ...found, hash: '00000000000000ab' }],
    ['other bytes in an event', { ...found, content: '00000000000000bc' }],
    ['bytes that are not known', { ...found, content: null }],
  ])('is not %s', (_what, other) => expect(isSameAnswer(expected, [found, other])).toBe(false));

  it('is not said of no run at all', () => expect(isSameAnswer(expected, [])).toBe(false));
});
