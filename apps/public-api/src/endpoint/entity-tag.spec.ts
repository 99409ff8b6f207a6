import { describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import { entityTag, expectedVersions } from './entity-tag.js';

function withHeader(value?: string): Request {
  return { headers: value === undefined ? {} : { 'if-match': value } } as unknown as Request;
}

describe('If-Match (RFC 9110)', () => {
  it.each([undefined, '*', ' * '])('of %p allows any version', (value) => {
    expect(expectedVersions(withHeader(value))).toBeNull();
  });

  it.each([
    [entityTag(7), [7]],
    ['"1", "2"', [1, 2]],
    ['"1","12" ,\t"3"', [1, 12, 3]],
    // Weak tags never match here, and other tags are no version of ours.
    ['W/"7"', []],
    ['W/"1", "2"', [2]],
    ['"07"', []],
    ['"a,b"', []],
    ['"*"', []],
    ['"99999999999999999999"', []],
  ])('of %s allows the versions %j', (value, versions) => {
    expect(expectedVersions(withHeader(value))).toEqual(versions);
  });

  it.each(['7', '"7', '7"', '', '"1" "2"', '"1",', '*, "1"', 'w/"1"', '"a\u0001"'])('of %j is refused', (value) => {
    expect(() => expectedVersions(withHeader(value))).toThrow(
      expect.objectContaining({
        status: 400,
        response: expect.objectContaining({
          code: 'invalid_header',
          details: [expect.objectContaining({ header: 'If-Match' })],
        }),
      }),
    );
  });
});
