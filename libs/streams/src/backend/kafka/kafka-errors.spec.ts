import { describe, expect, it } from '@jest/globals';
import { groupRefusal } from './kafka-errors.js';

function answer(code: number): Error {
  return Object.assign(new Error('from the broker'), { code });
}

describe('a refusal of the group', () => {
  it.each([
    [82, 'INSTANCE_FENCED', 'an id of its own'],
    [23, 'GROUP_REFUSED', 'another protocol'],
    [26, 'GROUP_REFUSED', 'group.max.session.timeout.ms'],
    [30, 'GROUP_REFUSED', 'grant it READ'],
    [81, 'GROUP_REFUSED', 'group.max.size'],
  ])('with code %i ends the membership and names the fix', (code, expected, fix) => {
    expect(groupRefusal(answer(code), 'g', 'instance-1')).toMatchObject({
      code: expected,
      message: expect.stringContaining(fix),
    });
  });

  it.each([14, 16, 22, 25, 27])('with code %i is retried', (code) => {
    expect(groupRefusal(answer(code), 'g', undefined)).toBeNull();
    expect(groupRefusal(new Error('the connection broke'), 'g', undefined)).toBeNull();
  });
});
