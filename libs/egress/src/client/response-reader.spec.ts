import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cut } from '../testing/cut.js';
import { type Reading, ResponseReader } from './response-reader.js';

interface Read {
  readonly reading: Reading | 'refused';
  readonly error: string | undefined;
  readonly reader: ResponseReader;
}

/** Hands the pieces over as a socket does: all in one buffer, filled again for each. */
function read(pieces: readonly string[], { maxHeadBytes = 1_000, maxBodyBytes = 1_000, keepBody = true } = {}): Read {
  const reader = new ResponseReader({ maxHeadBytes });
  const buffer = Buffer.alloc(Math.max(1, ...pieces.map((piece) => piece.length)));
  reader.begin({ maxBodyBytes, keepBody });
  let reading: Read['reading'] = 'more';
  for (const piece of pieces) {
    buffer.fill('#').write(piece, 'latin1');
    try {
      reading = reader.read(buffer, piece.length);
    } catch (error) {
      return { reading: 'refused', error: (error as Error).message, reader };
    }
    if (reading !== 'more') break;
  }
  return { reading, error: undefined, reader };
}

const FINAL = 'HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok';

describe('ResponseReader', () => {
  it('reads a response, announcements left out, however it is cut into pieces', () => {
    const announcements = fc.array(
      fc.constantFrom('HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: <a>\r\nlink: <b>\r\n\r\n'),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(announcements, fc.array(fc.nat(), { maxLength: 12 }), (before, cuts) => {
        const { reading, reader } = read(cut(before.join('') + FINAL, cuts));

        expect(reading).toBe('complete');
        expect(reader.response(false)).toEqual({
          type: 'response',
          statusCode: 201,
          headers: { 'content-length': '2' },
          body: Buffer.from('ok'),
          truncated: false,
        });
      }),
    );
  });

  it('knows the status with the end of its line, before any header', () => {
    expect(read(['HTTP/1.1 201 Created\r']).reader.response(true)).toBeUndefined();
    expect(read(['HTTP/1.1 201 Created\r', '\n']).reader.response(true)).toMatchObject({ statusCode: 201 });
    expect(read(['HTTP/1.1 100 Continue\r\n']).reader.response(true)).toBeUndefined();
  });

  it('gives the headers of a head all or none', () => {
    const { reader } = read(['HTTP/1.1 503 Busy\r\nretry-after: 7\r\n']);

    expect(reader.response(true)).toMatchObject({ statusCode: 503, headers: {} });
  });

  it('takes a head up to the bound and none beyond it, announcements included', () => {
    const head = (length: number): string => {
      const bare = 'HTTP/1.1 200 OK\r\nx: \r\n\r\n';
      return bare.replace('x: ', `x: ${'y'.repeat(length - bare.length)}`);
    };

    expect(read([head(1_000)])).toMatchObject({ reading: 'more' });
    expect(read([head(1_001)])).toMatchObject({ error: 'the head of the response is too long' });
    expect(read(['HTTP/1.1 100 Continue\r\n\r\n', head(1_000)])).toMatchObject({
      error: 'the head of the response is too long',
    });
  });

  it('takes eight announcements and not a ninth', () => {
    const many = (count: number): string => 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(count) + FINAL;

    expect(read([many(8)])).toMatchObject({ reading: 'complete' });
    expect(read([many(9)])).toMatchObject({ error: 'too many announcements (1xx)' });
  });

  it('refuses any text that is not a status line of HTTP/1.x', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii', minLength: 1 }), (text) => {
        fc.pre(!'HTTP/1.'.startsWith(text.slice(0, 7)));
        expect(read([text])).toMatchObject({ error: 'the answer is not HTTP/1.1' });
      }),
    );
  });

  it('refuses what comes before a request and after a response', () => {
    const fresh = new ResponseReader({ maxHeadBytes: 100 });
    expect(() => fresh.read(Buffer.from(FINAL), FINAL.length)).toThrow('the response goes on after its end');

    const { reader } = read([FINAL]);
    expect(() => reader.read(Buffer.from('m'), 1)).toThrow('the response goes on after its end');
  });
});

describe('the body of a response', () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const withLength = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n';

  it.each([
    ['of a known length', `${withLength}abcdef`],
    ['in chunks', `${chunked}3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n`],
  ])('%s is complete at the limit, and cut to it beyond, wherever it is cut', (_case, text) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
        const atLimit = read(cut(text, cuts), { maxBodyBytes: 6 });
        expect(atLimit.reading).toBe('complete');
        expect(atLimit.reader.response(false)?.body).toEqual(Buffer.from('abcdef'));

        const beyond = read(cut(text, cuts), { maxBodyBytes: 5 });
        expect(beyond.reading).toBe('enough');
        expect(beyond.reader.response(true)?.body).toEqual(Buffer.from('abcde'));
      }),
    );
  });

  it('without a length goes on to the end of the connection', () => {
    const { reading, reader } = read(['HTTP/1.1 200 OK\r\n\r\nab', 'c']);

    expect([reading, reader.readEnd(), reader.response(false)?.body.toString()]).toEqual(['more', true, 'abc']);
    expect(reader.reuse).toBeUndefined();
    expect(read([`${withLength}abc`]).reader.readEnd()).toBe(false);
    expect(read(['HTTP/1.1 200 OK\r\n']).reader.readEnd()).toBe(false);
  });

  it('is bounded and not kept when it is not wanted', () => {
    const { reading, reader } = read([`${withLength}abcdef`], { keepBody: false });
    expect([reading, reader.response(false)?.body.length]).toEqual(['complete', 0]);
    expect(read([`${withLength}abcdef`], { keepBody: false, maxBodyBytes: 5 }).reading).toBe('enough');
  });

  it('may have its size many times over as framing, but not without end', () => {
    const oneByteChunks = '1\r\nx\r\n'.repeat(1_000);
    expect(read([chunked, oneByteChunks, '0\r\n\r\n']).reading).toBe('complete');

    const extension = ';'.repeat(1_000);
    const endless = [`${chunked}1`, ...Array.from({ length: 74 }, () => extension)];
    expect(read(endless)).toMatchObject({ error: 'the body of the response is too long' });
  });

  it.each([204, 304])('does not exist behind a %d, whatever its headers say', (status) => {
    expect(read([`HTTP/1.1 ${String(status)} X\r\ncontent-length: 5\r\n\r\n`]).reading).toBe('complete');
  });
});

describe('a connection behind a complete response', () => {
  const reuseAfter = (text: string) => read([text]).reader.reuse;

  it('can be used again, for as long as the other side says', () => {
    expect(reuseAfter(FINAL)).toEqual({ hintMs: undefined });
    expect(reuseAfter(FINAL.replace('\r\n', '\r\nkeep-alive: timeout=5, max=100\r\n'))).toEqual({ hintMs: 5_000 });
    expect(reuseAfter(FINAL.replace('1.1', '1.0').replace('\r\n', '\r\nConnection: Keep-Alive\r\n'))).toBeDefined();
  });

  it.each([
    ['has said that it closes it', FINAL.replace('\r\n', '\r\nconnection: x, Close\r\n')],
    ['speaks HTTP/1.0', FINAL.replace('1.1', '1.0')],
    ['has sent more than the response', `${FINAL}H`],
    ['has sent a body behind a 204', 'HTTP/1.1 204 No Content\r\n\r\nsurprise'],
  ])('cannot be used again when the other side %s', (_case, text) => {
    expect(read([text]).reading).toBe('complete');
    expect(reuseAfter(text)).toBeUndefined();
  });
});
