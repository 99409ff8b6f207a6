import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readResponseHead } from './response-head.js';

function read(lines: readonly string[], { status = 200, version = '1.1' } = {}) {
  return readResponseHead(
    `HTTP/${version} ${String(status)} OK\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`,
    status,
  );
}

describe('readResponseHead', () => {
  it('keeps only the useful headers, without the whitespace around them', () => {
    const { headers } = read(['Retry-After:  7 ', 'X-Other: 1', 'content-type:text/plain', 'SERVER: a', 'server: b']);

    expect(headers).toEqual({ 'retry-after': '7', 'content-type': 'text/plain', server: 'a,b' });
  });

  it('keeps at most 256 characters of a header', () => {
    expect(read([`server: ${'x'.repeat(200)}`, `server: ${'y'.repeat(200)}`]).headers.server).toBe(
      `${'x'.repeat(200)},${'y'.repeat(55)}`,
    );
  });

  it.each<[string[], object, string, number]>([
    [[], {}, 'until_close', 0],
    [['content-length: 12'], {}, 'length', 12],
    [['content-length: 0'], {}, 'length', 0],
    [['Transfer-Encoding: Chunked'], {}, 'chunked', 0],
    [['content-length: 12'], { status: 304 }, 'none', 12],
    [['transfer-encoding: chunked'], { status: 204 }, 'none', 0],
  ])('finds where the body ends: %p %p is %p', (lines, of, framing, bodyBytes) => {
    expect(read(lines, of)).toMatchObject({ framing, bodyBytes });
  });

  it.each<[string, string[], object]>([
    ['two lengths', ['content-length: 2', 'content-length: 3'], {}],
    ['two equal lengths', ['content-length: 2', 'content-length: 2'], {}],
    ['a list of lengths', ['content-length: 2, 2'], {}],
    ['a length with a sign', ['content-length: +2'], {}],
    ['a negative length', ['content-length: -2'], {}],
    ['a length in words', ['content-length: two'], {}],
    ['an empty length', ['content-length:'], {}],
    ['a hexadecimal length', ['content-length: 0x10'], {}],
    ['a length after a space that is none', ['content-length: \u00a02'], {}],
    ['a length that no number holds', [`content-length: ${'9'.repeat(16)}`], {}],
    ['a length and chunks', ['content-length: 2', 'transfer-encoding: chunked'], {}],
    ['another encoding of the transfer', ['transfer-encoding: gzip'], {}],
    ['two encodings of the transfer', ['transfer-encoding: gzip, chunked'], {}],
    ['chunks twice', ['transfer-encoding: chunked', 'transfer-encoding: chunked'], {}],
    ['chunks in HTTP/1.0', ['transfer-encoding: chunked'], { version: '1.0' }],
    ['a folded line', ['server: a', ' b'], {}],
    ['a space before the colon', ['content-length : 2'], {}],
    ['a line without a colon', ['content-length 2'], {}],
    ['an empty name', [': 2'], {}],
    ['a name with a space', ['content length: 2'], {}],
    ['a zero byte', ['server: a\u0000'], {}],
    ['a bare carriage return', ['server: a\rcontent-length: 2'], {}],
    ['a bare line feed', ['server: a\ncontent-length: 2'], {}],
  ])('refuses %s', (_case, lines, of) => {
    expect(() => read(lines, of)).toThrow(expect.objectContaining({ code: 'EGRESS_RESPONSE_REFUSED' }));
  });

  it('accepts any bytes in values except control characters', () => {
    const value = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
    fc.assert(
      fc.property(value, (text) => {
        // eslint-disable-next-line no-control-regex -- control characters are the point
        const isBad = /[\u0000-\u0008\u000a-\u001f\u007f]/.test(text);
        const reading = (): unknown => read([`server: ${text}`]).headers.server;
        if (isBad) expect(reading).toThrow();
        else expect(reading()).toBe(text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, ''));
      }),
    );
  });

  it.each<[string[], string, boolean]>([
    [[], '1.1', true],
    [['connection: keep-alive'], '1.1', true],
    [['connection: closed'], '1.1', true],
    [['connection: close'], '1.1', false],
    [['connection: x', 'Connection: CLOSE'], '1.1', false],
    [[], '1.0', false],
    [['connection: keep-alive'], '1.0', true],
  ])('says whether the connection stays: %p in HTTP/%s: %p', (lines, version, keepAlive) => {
    expect(read(lines, { version }).keepAlive).toBe(keepAlive);
  });

  it.each<[string, string, boolean]>([
    ['204', 'transfer-encoding: chunked', false],
    ['204', 'content-length: 2', false],
    ['204', 'content-length: 0', true],
    ['204', 'server: a', true],
    ['304', 'content-length: 2', true],
    ['304', 'transfer-encoding: chunked', true],
  ])('says whether the connection stays after a %s with %p: %p', (status, line, keepAlive) => {
    expect(read([line], { status: Number(status) }).keepAlive).toBe(keepAlive);
  });

  it.each<[string, number | undefined]>([
    ['timeout=5', 5_000],
    ['max=100, Timeout = 0', 0],
    ['max=100', undefined],
    ['xtimeout=5', undefined],
    ['timeout=soon', undefined],
  ])('reads how long an idle connection is kept: %p', (text, expected) => {
    expect(read([`keep-alive: ${text}`]).keepAliveHintMs).toBe(expected);
  });
});
