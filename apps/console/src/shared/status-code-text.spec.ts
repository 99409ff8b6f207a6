import { describe, expect, it } from '@jest/globals';
import { statusCodeText } from './status-code-text.js';

describe('a status code', () => {
  it.each([
    [204, '204 No Content'],
    [503, '503 Service Unavailable'],
    [599, '599'],
  ])('has its name beside it: %d', (code, text) => {
    expect(statusCodeText(code)).toBe(text);
  });
});
