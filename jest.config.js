import { readdirSync } from 'node:fs';

const libraries = readdirSync(new URL('./libs/', import.meta.url));

/** One definition for every tier; the file's suffix says which tier a test belongs to. */
const tier = (displayName, testMatch, more = {}) => ({
  displayName,
  rootDir: import.meta.dirname ?? new URL('.', import.meta.url).pathname,
  testMatch,
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  moduleNameMapper: {
    ...Object.fromEntries(libraries.map((name) => [`^@waypost/${name}$`, `<rootDir>/libs/${name}/src/index.ts`])),
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  ...more,
});

export default {
  projects: [
    tier('unit', ['<rootDir>/{apps,libs,tools}/**/!(*.int|*.e2e).spec.ts']),
  ],
};
