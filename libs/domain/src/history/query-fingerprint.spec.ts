import { describe, expect, it } from '@jest/globals';
import { NOON } from '../../../../test/support/samples.js';
import { queryFingerprint } from './query-fingerprint.js';

describe('queryFingerprint (R-34)', () => {
  const query = { startAt: NOON, endAt: NOON + 1, eventTypes: ['position', 'ignition_on'] };

  it.each([
    ['other names first', { endAt: NOON + 1, eventTypes: ['position', 'ignition_on'], startAt: NOON }],
    ['a list in another order', { ...query, eventTypes: ['ignition_on', 'position'] }],
    ['a value twice in a list', { ...query, eventTypes: ['position', 'ignition_on', 'position'] }],
    ['filters that are not asked for', { ...query, deviceId: undefined, statusCode: null }],
  ])('is the same with %s', (_, same) => expect(queryFingerprint(same)).toBe(queryFingerprint(query)));

  it.each([
    ['a value', { ...query, endAt: NOON + 2 }],
    ['the name of a value', { startAt: NOON, stopAt: NOON + 1, eventTypes: query.eventTypes }],
    ['one filter more', { ...query, statusCode: 500 }],
    ['one value less', { ...query, eventTypes: ['position'] }],
    ['one filter less', { startAt: NOON, endAt: NOON + 1 }],
    ['the split of the values', { ...query, eventTypes: ['position,ignition_on'] }],
  ])('differs by %s', (_, other) => expect(queryFingerprint(other)).not.toBe(queryFingerprint(query)));

  it('keeps a number apart from its text', () => {
    expect(queryFingerprint({ statusCode: 500 })).not.toBe(queryFingerprint({ statusCode: '500' }));
  });

  it('stays the same from release to release: tokens outlive a deployment', () => {
    expect(queryFingerprint(query)).toBe('Wdo-a-H2WdtNBsNAjYPRyX');
  });
});
