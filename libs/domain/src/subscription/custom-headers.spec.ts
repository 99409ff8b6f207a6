import { describe, expect, it } from '@jest/globals';
import { DELIVERY_HEADER } from '../delivery/delivery-headers.js';
import { customHeaderBytes, HEADER_NAME, HEADER_VALUE, isReservedHeader } from './custom-headers.js';

describe('headers of a subscription (R-19)', () => {
  it('never have the name of one that Waypost sends', () => {
    const ours = [...Object.values(DELIVERY_HEADER), 'content-type'];
    expect(ours.filter((name) => !isReservedHeader(name))).toEqual([]);
  });

  it.each([
    ...['host', 'Host', 'content-length', 'CONTENT-TYPE', 'content-encoding', 'connection', 'transfer-encoding'],
    ...['keep-alive', 'upgrade', 'te', 'trailer', 'expect', 'via', 'forwarded', 'x-forwarded-for', 'user-agent'],
    ...['proxy-authorization', 'proxy-connection', 'tracestate', 'webhook-anything', 'X-Service-Anything', 'date'],
  ])('never belong to the transport, to a proxy, or to a later release: %s', (name) =>
    expect(isReservedHeader(name)).toBe(true),
  );

  it.each(['x-api-key', 'x-tenant', 'cookie', 'accept', 'x-hub', 'webhook', 'contents', 'x-host'])(
    'may be any other: %s',
    (name) => expect(isReservedHeader(name)).toBe(false),
  );

  it.each([
    ['X-Api_Key.1', true],
    ["!#$%&'*+-.^_`|~09azAZ", true],
    ['', false],
    ['x y', false],
    ['x:y', false],
    ['x\r\ny', false],
    ['é', false],
    ['(x)', false],
  ])('have a token as their name: %j', (name, expected) => expect(HEADER_NAME.test(name)).toBe(expected));

  it.each([
    ['a', true],
    ['Basic dXNlcjpwYXNz', true],
    ['~ !', true],
    ['', false],
    [' a', false],
    ['a ', false],
    ['a\r\nx-other: b', false],
    ['a\nb', false],
    ['a\tb', false],
    ['a\u0000', false],
    ['a\u007f', false],
    ['é', false],
  ])('have a value of visible ASCII, which cannot begin another line: %j', (value, expected) =>
    expect(HEADER_VALUE.test(value)).toBe(expected),
  );

  it('count with the bytes of their names and values', () => {
    const headers = [
      { name: 'x-a', value: '12' },
      { name: 'x-bc', value: '3' },
    ];
    expect(customHeaderBytes(headers)).toBe(10);
    expect(customHeaderBytes([])).toBe(0);
  });
});
