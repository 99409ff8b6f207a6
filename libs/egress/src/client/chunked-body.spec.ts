import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cut } from '../testing/raw-server.js';
import { ChunkedBody } from './chunked-body.js';

/** What is taken, and what comes after the end; undefined when there is no end. */
function read(pieces: readonly string[]): { taken: string; behind: string | undefined } {
  let taken = '';
  const body = new ChunkedBody((bytes, from, to) => {
    taken += bytes.toString('latin1', from, to);
    return true;
  });
  for (const [index, piece] of pieces.entries()) {
    const end = body.read(Buffer.from(`##${piece}##`, 'latin1'), 2, piece.length + 2);
    if (typeof end === 'number') return { taken, behind: [piece.slice(end - 2), ...pieces.slice(index + 1)].join('') };
  }
  return { taken, behind: undefined };
}

const written = fc.record({
  chunks: fc.array(
    fc.record({
      data: fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 }),
      extension: fc.constantFrom('', ';a', '; a="b c"', ' ', '\t;x=1'),
      zeros: fc.nat({ max: 3 }),
      upper: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  trailers: fc.constantFrom('', 'x: 1\r\n', 'x: 1\r\ny:\r\n'),
  behind: fc.constantFrom('', '\r\n', 'HTTP/1.1 200 OK\r\n'),
});

describe('ChunkedBody', () => {
  it('removes the framing, however it is written and split, and finds the end of the body', () => {
    fc.assert(
      fc.property(written, fc.array(fc.nat(), { maxLength: 12 }), ({ chunks, trailers, behind }, cuts) => {
        const lines = chunks.map(({ data, extension, zeros, upper }) => {
          const size = '0'.repeat(zeros) + data.length.toString(16);
          return `${upper ? size.toUpperCase() : size}${extension}\r\n${data}\r\n`;
        });
        const text = `${lines.join('')}0\r\n${trailers}\r\n`;

        const result = read(cut(text + behind, cuts));

        expect(result).toEqual({ taken: chunks.map(({ data }) => data).join(''), behind });
        expect(read(cut(text.slice(0, -1), cuts)).behind).toBeUndefined();
      }),
    );
  });

  it.each([
    ['no size', '\r\nok'],
    ['a size that is none', 'zz\r\nok\r\n'],
    ['a sign', '-2\r\nok\r\n'],
    ['a prefix', '0x2\r\nok\r\n'],
    ['a size beyond all numbers', 'fffffffffffffff\r\n'],
    ['endless zeros', '0'.repeat(100)],
    ['a bare line feed after the size', '2\nok\r\n'],
    ['a bare line feed in an extension', '2;a\nok\r\n'],
    ['a bare carriage return after the size', '2\rok\r\n'],
    ['more data than its size', '2\r\nokay\r\n'],
    ['a bare line feed after the data', '2\r\nok\n0\r\n\r\n'],
    ['a bare line feed after the last size', '0\n\r\n'],
    ['a bare line feed in a trailer', '0\r\nx: 1\n\r\n'],
    ['a bare line feed at the end', '0\r\n\n'],
    ['something else at the end', '0\r\n\rx'],
    ['a zero byte in an extension', '2;\u0000\r\nok\r\n'],
    ['a zero byte in a trailer', '0\r\nx: \u0000\r\n\r\n'],
  ])('refuses %s', (_case, text) => {
    expect(() => read([text])).toThrow(expect.objectContaining({ code: 'EGRESS_RESPONSE_REFUSED' }));
    expect(() => read(Array.from(text))).toThrow(expect.objectContaining({ code: 'EGRESS_RESPONSE_REFUSED' }));
  });

  it('stops when its reader wants no more', () => {
    const body = new ChunkedBody(() => false);

    expect(body.read(Buffer.from('2\r\nok\r\n'), 0, 7)).toBe('enough');
  });
});
