import { describe, expect, it } from '@jest/globals';
import { isFleetId } from './fleet-id.js';

describe('a fleet id', () => {
  it.each(['a', '7', 'Fleet-1_north.2', 'x'.repeat(128)])('may be %s', (id) => {
    expect(isFleetId(id)).toBe(true);
  });

  it.each(['', '-a', '.a', 'a b', 'a/b', 'a\u001fb', 'a\n', 'é', 'x'.repeat(129)])('may not be %j', (id) => {
    expect(isFleetId(id)).toBe(false);
  });
});
