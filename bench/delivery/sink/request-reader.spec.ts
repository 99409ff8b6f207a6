import { describe, expect, it } from '@jest/globals';
import { RequestReader, type SinkRequest } from './request-reader.js';

const requestText = (endpoint: number, attempt: number, body: string): string =>
  [
    `POST /hook/${String(endpoint)} HTTP/1.1`,
    'Host: 127.0.0.1:20000',
    'webhook-id: 00ff00ff-1111-5111-8111-111111111111',
    `x-service-attempt: ${String(attempt)}`,
    `Content-Length: ${String(Buffer.byteLength(body))}`,
    '',
    body,
  ].join('\r\n');

const body = (event: string): string => `{"eventData":{"deviceId":"bench-${event}","driverId":"ü"}}`;

function readAll(chunks: readonly Buffer[]): SinkRequest[] {
  const reader = new RequestReader();
  const found: SinkRequest[] = [];
  for (const chunk of chunks) reader.read(chunk, (request) => found.push(request));
  return found;
}

describe('RequestReader', () => {
  const bytes = Buffer.from(requestText(7, 1, body('000000000042')) + requestText(99, 5, body('999999999999')));
  const expected = [
    { endpoint: 7, attempt: 1, idHead: 0x00ff00ff, event: 42 },
    { endpoint: 99, attempt: 5, idHead: 0x00ff00ff, event: 999_999_999_999 },
  ];

  it('reads several requests of one connection that come at once', () => {
    expect(readAll([bytes])).toEqual(expected);
  });

  it('reads them however they are cut', () => {
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(readAll([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected);
    expect(readAll(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(expected);
  });

  it('tells -1 for the event of a body that carries none', () => {
    expect(readAll([Buffer.from(requestText(1, 1, '{}'))])).toEqual([{ ...expected[0], endpoint: 1, event: -1 }]);
  });

  it('refuses a request whose length it cannot know', () => {
    expect(() => readAll([Buffer.from('POST /hook/1 HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n')])).toThrow(
      'without content-length',
    );
  });
});
