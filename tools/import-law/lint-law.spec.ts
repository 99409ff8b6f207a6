import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

const root = join(import.meta.dirname, '../..');

/** Each puts code that breaks one rule into the place of an existing file. */
const PLANTS: readonly (readonly [what: string, file: string, code: string, rule: string])[] = [
  [
    'the wall clock in the domain',
    'libs/domain/src/index.ts',
    'export const t = () => Date.now();',
    'no-restricted-properties',
  ],
  [
    'the current date in streams',
    'libs/streams/src/index.ts',
    'export const t = () => new Date();',
    'no-restricted-syntax',
  ],
  [
    'chance in the domain',
    'libs/domain/src/index.ts',
    'export const r = () => Math.random();',
    'no-restricted-properties',
  ],
  [
    'a timer in the domain',
    'libs/domain/src/index.ts',
    'export const w = () => setTimeout(() => 0, 1);',
    'no-restricted-globals',
  ],
  [
    'the environment outside of config files',
    'libs/egress/src/index.ts',
    `export const e = () => process.env['X'];`,
    'no-restricted-properties',
  ],
  [
    'a topic name outside of contracts',
    'apps/public-api/src/main.ts',
    `export const t = 'fleet.events';`,
    'no-restricted-syntax',
  ],
  [
    'a topic name in a template',
    'libs/platform/src/index.ts',
    'export const t = `webhook.attempts`;',
    'no-restricted-syntax',
  ],
  [
    'mutable state of a module',
    'libs/egress/src/index.ts',
    'let n = 0;\nexport const next = () => ++n;',
    'no-restricted-syntax',
  ],
  [
    'exported mutable state',
    'libs/egress/src/index.ts',
    'export let n = 0;\nexport const next = () => ++n;',
    'no-restricted-syntax',
  ],
  [
    'an unchecked request',
    'apps/public-api/src/main.ts',
    `export const f = () => fetch('https://example.com');`,
    'no-restricted-globals',
  ],
  [
    'a function of more than 60 lines',
    'libs/domain/src/index.ts',
    `export function f(): void {\n${'  void 0;\n'.repeat(60)}}`,
    'max-lines-per-function',
  ],
  ['a file of more than 400 lines', 'libs/domain/src/index.ts', 'export {};\n'.repeat(401), 'max-lines'],
];

const LAWFUL: readonly (readonly [what: string, file: string, code: string])[] = [
  [
    'the environment in a config file',
    'apps/public-api/src/config.ts',
    `export function e() {\n  return process.env['X'];\n}`,
  ],
  ['a topic name in contracts', 'libs/contracts/src/topics.ts', `export const t = 'fleet.events';`],
  [
    'a date from a given time in the domain',
    'libs/domain/src/index.ts',
    'export function d(atMs: number) {\n  return new Date(atMs);\n}',
  ],
  ['words that only contain a topic name', 'libs/platform/src/index.ts', `export const t = 'reads fleet.events';`],
];

/** These need the types of the whole repository, which `npm run lint` takes the time to work out. */
const TYPED_RULES = [
  '@typescript-eslint/no-floating-promises',
  '@typescript-eslint/no-misused-promises',
  '@typescript-eslint/no-explicit-any',
  '@typescript-eslint/no-non-null-assertion',
  '@typescript-eslint/switch-exhaustiveness-check',
];

const FILES = [
  'libs/domain/src/index.ts',
  'libs/streams/src/index.ts',
  'libs/platform/src/config/kafka-config.ts',
  'apps/public-api/src/main.ts',
  'tools/import-law/plants.ts',
  'tools/import-law/lint-law.spec.ts',
];

describe('the lint rules of this repository', () => {
  // Built once: it reads the whole configuration.
  const untyped = new ESLint({ cwd: root, overrideConfig: [tseslint.configs.disableTypeChecked] });

  async function rulesBrokenBy(file: string, code: string): Promise<(string | null)[]> {
    const [result] = await untyped.lintText(`${code}\n`, { filePath: join(root, file) });
    return (result?.messages ?? []).map(({ ruleId }) => ruleId);
  }

  it.each(PLANTS)('refuse %s (%s)', async (_what, file, code, rule) => {
    expect(await rulesBrokenBy(file, code)).toContain(rule);
  });

  it.each(LAWFUL)('accept %s (%s)', async (_what, file, code) => {
    expect(await rulesBrokenBy(file, code)).toEqual([]);
  });

  it.each(FILES)('are errors in %s where they need types', async (file) => {
    const { rules } = (await new ESLint({ cwd: root }).calculateConfigForFile(join(root, file))) as {
      rules: Record<string, [severity: number]>;
    };

    expect(TYPED_RULES.filter((rule) => rules[rule]?.[0] !== 2)).toEqual([]);
  });
});
