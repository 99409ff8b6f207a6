// Jest says "test" here. kafkajs retries differently under that name, so tests would not see what production does.
if (process.env.NODE_ENV === 'test') process.env.NODE_ENV = 'development';

const rootDir = new URL('.', import.meta.url).pathname;

const ignored = ['/node_modules/', '<rootDir>/dist/', '<rootDir>/.waypost/'];

/** One definition for every tier; the file's suffix says which tier a test belongs to. */
const tier = (displayName, testMatch, more = {}) => ({
  displayName,
  rootDir,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
  testPathIgnorePatterns: ignored,
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.waypost/'],
  runner: 'jest-light-runner',
  ...more,
});

export default {
  projects: [
    // All that no other tier has. Jest's globs cannot say so: `!(*.int).spec.ts` leaves out `a.interval.spec.ts` too.
    tier('unit', ['{apps,libs,packages,tools,bench,test}/**/*.spec.ts'], {
      testPathIgnorePatterns: [...ignored, '\\.(int|e2e)\\.spec\\.ts$'],
      setupFilesAfterEnv: ['./test/support/unit-timeout.mjs'],
    }),
    // One embedded stack for all of them: each makes topics, groups and a database of its own, so several can run at once.
    tier('int', ['{apps,libs,packages,tools,bench,test}/**/*.int.spec.ts'], {
      globalSetup: './test/support/int-stack/start.mjs',
      globalTeardown: './test/support/int-stack/stop.mjs',
    }),
    // The product, started once as a user does; each test has fleets of its own.
    tier('e2e', ['test/e2e/**/*.e2e.spec.ts'], {
      globalSetup: './test/support/e2e-stack/start.mjs',
      globalTeardown: './test/support/e2e-stack/stop.mjs',
      setupFilesAfterEnv: ['./test/support/e2e-timeout.mjs'],
    }),
  ],
  testSequencer: './test/support/slowest-first.mjs',
  // Unit and end-to-end tests have limits of their own: unit-timeout.mjs and e2e-timeout.mjs in test/support.
  testTimeout: 60_000,
};
