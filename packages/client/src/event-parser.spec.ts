import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createEventParser } from './event-parser.js';

const STREAM = ': open\n\nid: 1-0\nevent: attempt\ndata: {"a":1}\n\nid: 2-0\n\ndata:x\ndata: y\n\n: alive\n\n';
const EVENTS = [
  { id: '1-0', data: '{"a":1}' },
  { id: '2-0', data: null },
  { id: '2-0', data: 'x\ny' },
];

describe('a stream of server-sent events (R-41)', () => {
  it('has the same events however it is cut into pieces, and whatever ends its lines', () => {
    const cuts = fc.array(fc.nat({ max: STREAM.length }), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, fc.constantFrom('\n', '\r\n', '\r'), (places, lineBreak) => {
        const text = STREAM.replaceAll('\n', lineBreak);
        const bounds = [0, ...places.toSorted((a, b) => a - b), text.length];
        const parse = createEventParser();
        const parsed = bounds.flatMap((end, index) => parse(text.slice(bounds[index - 1] ?? 0, end)));
        // A carriage return at the very end may be followed by a line feed: only the next piece tells.
        expect([...parsed, ...parse('\n')]).toEqual(EVENTS);
      }),
    );
  });

  it('does not show an event whose end has not arrived', () => {
    expect(createEventParser()('id: 1\ndata: half')).toEqual([]);
  });
});
