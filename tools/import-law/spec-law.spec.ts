import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
const SPEC = /(\.int|\.e2e)?\.spec\.tsx?$/;
const SOURCES = ['.ts', '.tsx', '.mjs'];

/** Folders of specs that test no file beside them. Those of the whole product stand in test/. */
const ALLOWED: Readonly<Record<string, string>> = {
  'libs/streams/tutorial': 'Its chapters are specs.',
  'packages/client/test': 'It tests the packed package, not one of its files.',
  'tools/import-law': 'Each is a law about the whole repository.',
};

/**
 * The specs of which no source file, and no folder that they test as a whole, stands beside them. A file with more than
 * one spec has its name in all of them: `a.spec.ts` and `a.property.spec.ts` test `a.ts`.
 */
function specsWithoutSource(files: readonly string[]): string[] {
  const present = new Set(files.flatMap((file) => [file, dirname(file)]));
  const isSource = (name: string): boolean => ['', ...SOURCES].some((suffix) => present.has(name + suffix));
  return files.filter((file) => {
    if (!SPEC.test(file) || dirname(file) in ALLOWED) return false;
    return !namesIn(file.replace(SPEC, '')).some(isSource);
  });
}

/** `x/a.b.c` is of `x/a.b.c`, of `x/a.b` or of `x/a`. */
function namesIn(name: string): string[] {
  const parts = name.slice(dirname(name).length + 1).split('.');
  return parts.map((_, index) => join(dirname(name), parts.slice(0, index + 1).join('.')));
}

function filesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : filesIn(path);
    return [path];
  });
}

describe('The law of the names of specs', () => {
  it.each([
    ['a file that is not there', ['a/b.ts', 'a/c.spec.ts']],
    ['its own folder', ['a/a.spec.ts', 'a/b.ts']],
    ['a file in another folder', ['a/b.ts', 'c/b.spec.ts']],
    ['a part of a name', ['a/b.service.ts', 'a/b.list.int.spec.ts']],
  ])('refuses a spec with the name of %s', (_what, files) => {
    expect(specsWithoutSource(files)).toEqual(files.filter((file) => file.includes('spec')));
  });

  it.each([
    ['the file beside it', ['a/b.ts', 'a/b.spec.ts']],
    ['a file beside it, and what of it is tested', ['a/b.task.ts', 'a/b.task.pace.int.spec.ts']],
    ['a script beside it', ['a/b.mjs', 'a/b.spec.ts']],
    ['a folder beside it', ['a/b/c.go', 'a/b.int.spec.ts']],
  ])('accepts a spec with the name of %s', (_what, files) => expect(specsWithoutSource(files)).toEqual([]));

  it('holds', () => {
    const files = ['apps', 'libs', 'packages', 'tools', 'bench'].flatMap((folder) => filesIn(folder));
    expect(files.filter((file) => SPEC.test(file)).length).toBeGreaterThan(200);
    // Name it after the file that it tests, or move it to test/ if it tests none.
    expect(specsWithoutSource(files)).toEqual([]);
  });

  it('lists no folder without specs', () => {
    for (const folder of Object.keys(ALLOWED))
      expect([folder, filesIn(folder).some((file) => SPEC.test(file))]).toEqual([folder, true]);
  });
});
