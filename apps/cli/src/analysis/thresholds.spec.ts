import { describe, expect, it } from '@jest/globals';
import { DEFAULT_RULE_SETTINGS } from '@waypost/domain';
import { changedSettings, parseDuration, THRESHOLDS } from './thresholds.js';

/** The value of the rules that each is about. */
const ABOUT: Readonly<Record<string, string>> = {
  window: 'positionWindowMs',
  movingSpeed: 'movingSpeedInKmh',
  movingDistance: 'movingDistanceInMeters',
  stillSpeed: 'stillSpeedInKmh',
  stillAfter: 'stillMs',
  offAfter: 'ignitionOffMs',
  gap: 'gapMs',
  leaveMargin: 'marginInMeters',
  leaveFixes: 'leaveFixes',
  leaveAfter: 'leaveMs',
};

describe('The thresholds of a back-test', () => {
  it.each([
    ['300s', 300_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
  ])('take %s for %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['300', '', '-5s', '0s', '5 minutes', 's'])('refuse "%s"', (text) => {
    expect(() => parseDuration(text)).toThrow('duration');
  });

  it('each change the value of the rules that they are about, and nothing else', () => {
    for (const { name } of THRESHOLDS) {
      const [before, after] = [DEFAULT_RULE_SETTINGS, changedSettings({ [name]: 7_777 })].map((settings) =>
        JSON.stringify(settings).match(/"\w+":[^,{}]+/g),
      );
      const differing = (after ?? []).filter((part, index) => part !== before?.[index]);
      expect({ name, differing }).toEqual({ name, differing: [`"${ABOUT[name] ?? ''}":7777`] });
    }
  });

  it('each say what the rules have now', () => {
    for (const { name, parse, present } of THRESHOLDS)
      expect(changedSettings({ [name]: parse(present) })).toEqual(DEFAULT_RULE_SETTINGS);
  });

  it('are the rules as they are when none is given', () => {
    expect(changedSettings({ window: undefined })).toEqual(DEFAULT_RULE_SETTINGS);
  });
});
