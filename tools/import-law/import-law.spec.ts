import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LAWFUL_TREE, PLANTS, PROPS } from './plants.js';

const root = join(import.meta.dirname, '../..');
const LAW = '.dependency-cruiser.cjs';
const FOLDER_LAW = '.dependency-cruiser.folders.cjs';

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

async function violationsIn(directory: string, folders: readonly string[], law = LAW): Promise<Violation[]> {
  const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [cruiser, ...folders, '--config', law, '--output-type', 'json'];
  // The exit code is the number of violations, which the output has as well.
  const run = promisify(execFile)(process.execPath, args, { cwd: directory, maxBuffer: 256 * 1024 * 1024 });
  const { stdout } = await run.catch((error: unknown) => error as { stdout: string });
  return (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
}

function write(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), `${code}\n`);
  }
}

/** That this repository keeps the law is checked by `npm run lint:deps`. */
describe('the import law', () => {
  let directory = '';
  let violations: Violation[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'waypost-import-law-'));
    for (const file of [LAW, FOLDER_LAW, 'tsconfig.json', 'package.json'])
      copyFileSync(join(root, file), join(directory, file));
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    write(directory, { ...LAWFUL_TREE, ...PROPS });
    write(directory, Object.fromEntries(PLANTS.map(({ file, code }) => [file, code])));
    violations = await violationsIn(directory, ['apps', 'libs', 'packages', 'tools']);
  });

  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  it('has a planted violation for each of its rules', () => {
    const { forbidden } = createRequire(import.meta.url)(join(root, LAW)) as { forbidden: { name: string }[] };

    expect(PLANTS.map(({ rule }) => rule).sort()).toEqual(forbidden.map(({ name }) => name).sort());
  });

  it.each(PLANTS)('finds what breaks $rule, and names that rule only', ({ rule, file }) => {
    const found = violations.filter((violation) => violation.from === file || violation.to === file);

    expect(found.map((violation) => violation.rule.name)).toEqual([rule]);
  });

  it('finds two folders that need each other, though no two files do', async () => {
    const folders = 'apps/one/src/folders';
    write(directory, {
      [`${folders}/a/one.ts`]: `export { two } from '../b/two.js';`,
      [`${folders}/a/three.ts`]: `export const three = 3;`,
      [`${folders}/b/two.ts`]: `export const two = 2;`,
      [`${folders}/b/four.ts`]: `export { three } from '../a/three.js';`,
    });

    const found = await violationsIn(directory, [folders], FOLDER_LAW);

    expect(new Set(found.map(({ rule }) => rule.name))).toEqual(new Set(['no-folder-cycles']));
    expect(found.map(({ from }) => from).sort()).toEqual([`${folders}/a`, `${folders}/b`]);
  });

  it('finds nothing in files that keep it', () => {
    const planted = new Set(PLANTS.map(({ file }) => file));

    expect(violations.filter(({ from, to }) => !planted.has(from) && !planted.has(to))).toEqual([]);
  });

  it('knows every library', () => {
    const aliases = Object.keys(
      (JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: { paths: object } })
        .compilerOptions.paths,
    );

    for (const alias of aliases) {
      const library = alias.split('/')[1] ?? '';
      expect(PLANTS.map(({ rule }) => rule)).toContain(`${library}-knows-its-layer`);
    }
  });
});
