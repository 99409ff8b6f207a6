import { describe, expect, it } from '@jest/globals';
import { isAtLeast, javaMajorVersion } from './version-numbers.js';

describe('javaMajorVersion', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17],
    ['openjdk version "21" 2023-09-19', 21],
    ['openjdk version "25-ea" 2025-09-16', 25],
    ['java version "1.8.0_392"', 8],
    ['Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "11.0.2"', 11],
  ])('reads the major version of %j', (output, major) => {
    expect(javaMajorVersion(output)).toBe(major);
  });

  it('finds none in other text', () => {
    expect(javaMajorVersion('The operation couldn’t be completed. Unable to locate a Java Runtime.')).toBeUndefined();
  });
});

describe('isAtLeast', () => {
  it.each([
    ['v20.19.0', true],
    ['20.20.2', true],
    ['v22.0.0', true],
    ['v20.18.3', false],
    ['v18.20.0', false],
    ['unknown', false],
  ])('compares %s with 20.19', (version, expected) => {
    expect(isAtLeast(version, [20, 19])).toBe(expected);
  });
});
