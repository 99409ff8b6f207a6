import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cut } from '../testing/raw-server.js';
import { ResponseReader } from './response-reader.js';

const OPTIONS = { maxHeadBytes: 1_000 };
const MAX_BODY_BYTES = 10;
const CHUNKED = 'transfer-encoding: chunked\r\n\r\n';

/** Responses of all kinds after which a connection is used again. */
const texts = fc.constantFrom(
  'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 204 No Content\r\nserver: a\r\n\r\n',
  'HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 4\r\n\r\nbusy',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: <a>\r\n\r\nHTTP/1.1 201 Made\r\ncontent-length: 2\r\n\r\nok',
  `HTTP/1.1 500 Odd\r\nretry-after: 3\r\nkeep-alive: timeout=9\r\n${CHUNKED}3\r\nodd\r\n2;a=b\r\n!!\r\n0\r\nx: y\r\n\r\n`,
  // Longer than is kept, and not longer than is read for the connection's sake.
  `HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n${'x'.repeat(60_000)}`,
  `HTTP/1.1 404 None\r\nserver: b\r\n${CHUNKED}9c40\r\n${'y'.repeat(40_000)}\r\n0\r\n\r\n`,
);
const exchanges = fc.record({ text: texts, keepBody: fc.boolean(), cuts: fc.array(fc.nat(), { maxLength: 5 }) });

/** All that a connection learns from its reader, as of this piece. */
function seen(reader: ResponseReader, piece: string): unknown {
  const bytes = Buffer.from(piece, 'latin1');
  const reading = reader.read(bytes, bytes.length);
  const { statusCode, reuse, isLast, isSufficient } = reader;
  return { reading, statusCode, reuse, isLast, isSufficient, response: reader.response() };
}

describe('a reader that has read other responses', () => {
  it('reads each piece of the next one as a new reader does, and knows nothing of it before', () => {
    fc.assert(
      fc.property(fc.array(exchanges, { minLength: 2, maxLength: 6 }), (responses) => {
        const used = new ResponseReader(OPTIONS);
        for (const { text, keepBody, cuts } of responses) {
          const fresh = new ResponseReader(OPTIONS);
          for (const reader of [used, fresh]) reader.begin({ maxBodyBytes: MAX_BODY_BYTES, keepBody });
          expect([used.statusCode, used.response(), used.isLast, used.isSufficient]).toEqual([
            ...[undefined, undefined],
            ...[false, false],
          ]);
          for (const piece of cut(text, cuts)) expect(seen(used, piece)).toEqual(seen(fresh, piece));
          expect(used.reuse).toBeDefined();
        }
      }),
      { numRuns: 200 },
    );
  });
});
