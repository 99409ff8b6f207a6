import { describe, expect, it } from '@jest/globals';
import { assertPrerequisites, isAtLeast, javaMajorVersion, type MachineFacts } from './prerequisites.js';

const everything = { java: true, maven: true };

function machine(facts: { node?: string; java?: string | undefined; maven?: string | undefined } = {}): MachineFacts {
  const { node, java, maven } = {
    node: 'v20.19.0',
    java: 'openjdk version "17.0.1"',
    maven: 'Apache Maven 3.8.7',
    ...facts,
  };
  return { nodeVersion: node, javaVersion: () => Promise.resolve(java), mavenVersion: () => Promise.resolve(maven) };
}

describe('assertPrerequisites', () => {
  it('accepts Node 20.19, Java 17 and any Maven', async () => {
    await expect(assertPrerequisites(everything, machine())).resolves.toBeUndefined();
  });

  it.each([
    [
      'an old Node',
      machine({ node: 'v20.18.0' }),
      /^Node\.js 20\.19 or newer is needed, but this is v20\.18\.0: [^.]+\.$/,
    ],
    ['no Java', machine({ java: undefined }), /^Java 17 or newer is needed .* no "java" on the PATH: install it\.$/],
    ['an old Java', machine({ java: 'java version "1.8.0_1"' }), /^Java 17 or newer is needed, but "java" is 8: .*\.$/],
    ['no Maven', machine({ maven: undefined }), /^Maven is needed .* no "mvn" on the PATH: install it\.$/],
  ])('names %s in one sentence with the fix', async (_case, facts, sentence) => {
    await expect(assertPrerequisites(everything, facts)).rejects.toMatchObject({
      code: 'prerequisite_missing',
      message: expect.stringMatching(sentence),
    });
  });

  it('requires Java and Maven only when they are needed', async () => {
    const bare = machine({ java: undefined, maven: undefined });
    await expect(assertPrerequisites({ java: false, maven: false }, bare)).resolves.toBeUndefined();
    await expect(
      assertPrerequisites({ java: true, maven: false }, machine({ maven: undefined })),
    ).resolves.toBeUndefined();
  });
});

describe('javaMajorVersion', () => {
  it.each([
    ['openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment', 17],
    ['openjdk version "21" 2023-09-19', 21],
    ['openjdk version "25-ea" 2025-09-16', 25],
    ['java version "1.8.0_392"', 8],
    ['Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "11.0.2"', 11],
  ])('reads the major version of %j', (output, major) => expect(javaMajorVersion(output)).toBe(major));

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
  ])('compares %s with 20.19', (version, expected) => expect(isAtLeast(version, [20, 19])).toBe(expected));
});
