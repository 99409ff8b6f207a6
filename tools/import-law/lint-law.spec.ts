import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { ESLint } from 'eslint';

const root = join(import.meta.dirname, '../..');

const MODULE_WITH_A_HOOK = `import { Module } from '@nestjs/common';\n@Module({})\nexport class M {\n  onModuleInit(): void {}\n}`;

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
    'the wall clock in a config file',
    'libs/platform/src/config/kafka-config.ts',
    'export const t = () => Date.now();',
    'no-restricted-properties',
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
  ['a lifecycle hook of a module', 'apps/public-api/src/main.ts', MODULE_WITH_A_HOOK, 'no-restricted-syntax'],
  [
    'a lifecycle hook of a module in the domain',
    'libs/domain/src/index.ts',
    MODULE_WITH_A_HOOK,
    'no-restricted-syntax',
  ],
  ['a lifecycle hook of a module in streams', 'libs/streams/src/index.ts', MODULE_WITH_A_HOOK, 'no-restricted-syntax'],
  [
    'a lifecycle hook of a module in contracts',
    'libs/contracts/src/index.ts',
    MODULE_WITH_A_HOOK,
    'no-restricted-syntax',
  ],
  [
    'a factory of a provider with five tokens',
    'apps/public-api/src/main.ts',
    'export const p = { provide: 1, inject: [1, 2, 3, 4, 5], useFactory: String };',
    'no-restricted-syntax',
  ],
  [
    'an option of streams that refuses undefined',
    'libs/streams/src/index.ts',
    'export interface ShipOptions {\n  readonly onSail?: () => void;\n}',
    'no-restricted-syntax',
  ],
  [
    'a hook of Jest that a helper registers when it is imported',
    'test/support/until.ts',
    `import { afterEach } from '@jest/globals';\nafterEach(() => undefined);`,
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
  ['a topic name in contracts', 'libs/contracts/src/topics/topics.ts', `export const t = 'fleet.events';`],
  [
    'a date from a given time in the domain',
    'libs/domain/src/index.ts',
    'export function d(atMs: number) {\n  return new Date(atMs);\n}',
  ],
  [
    'an option of streams that takes undefined',
    'libs/streams/src/index.ts',
    'export interface ShipOptions {\n  readonly onSail?: (() => void) | undefined;\n}',
  ],
  [
    'a helper with a function that registers a hook of Jest',
    'test/support/until.ts',
    `import { afterEach } from '@jest/globals';\nexport function cleanUp() {\n  afterEach(() => undefined);\n}`,
  ],
  [
    'a hook of Jest in a test file',
    'test/support/until.spec.ts',
    `import { afterEach } from '@jest/globals';\nafterEach(() => undefined);`,
  ],
  ['words that only contain a topic name', 'libs/platform/src/index.ts', `export const t = 'reads fleet.events';`],
];

/** Each breaks one of the rules that need types, which oxlint has. */
const TYPED_PLANTS: readonly (readonly [what: string, code: string, rule: string])[] = [
  [
    'a promise that nobody waits for',
    'export const f = (p: Promise<void>): void => {\n  p;\n};',
    'no-floating-promises',
  ],
  ['a promise as a condition', 'export const f = (p: Promise<boolean>): number => (p ? 1 : 2);', 'no-misused-promises'],
  ['a value that may be anything', 'export const f = (text: string): string => JSON.parse(text);', 'no-unsafe-return'],
  [
    'a switch without a case for every value',
    `export function f(of: 'a' | 'b'): number {\n  switch (of) {\n    case 'a':\n      return 1;\n  }\n  return 2;\n}`,
    'switch-exhaustiveness-check',
  ],
];

describe('the lint rules of this repository', () => {
  // Built once: it reads the whole configuration.
  const eslint = new ESLint({ cwd: root });

  async function rulesBrokenBy(file: string, code: string): Promise<(string | null)[]> {
    const [result] = await eslint.lintText(`${code}\n`, { filePath: join(root, file) });
    return (result?.messages ?? []).map(({ ruleId }) => ruleId);
  }

  it.each(PLANTS)('refuse %s (%s)', async (_what, file, code, rule) => {
    expect(await rulesBrokenBy(file, code)).toContain(rule);
  });

  it.each(LAWFUL)('accept %s (%s)', async (_what, file, code) => {
    expect(await rulesBrokenBy(file, code)).toEqual([]);
  });

  it('refuse what only the types tell', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'waypost-lint-'));
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { strict: true, types: [] } }));
    for (const [index, [, code]] of TYPED_PLANTS.entries())
      await writeFile(join(folder, `plant-${String(index)}.ts`), `${code}\n`);
    const args = ['--type-aware', '-c', join(root, '.oxlintrc.json'), '-f', 'json', folder];
    // The linter ends with 1, as it should.
    const { stdout } = await promisify(execFile)(join(root, 'node_modules', '.bin', 'oxlint'), args, {
      cwd: root,
    }).catch((error: unknown) => error as { stdout: string });
    await rm(folder, { recursive: true });

    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { code: string; filename: string }[] };
    for (const [index, [what, , rule]] of TYPED_PLANTS.entries()) {
      const found = diagnostics.filter(({ filename }) => filename.includes(`plant-${String(index)}.ts`));
      expect([what, ...found.map(({ code }) => code)]).toContain(`typescript(${rule})`);
    }
  });
});
