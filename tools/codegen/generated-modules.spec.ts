import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { differences } from './generated-modules.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'codegen-'));
});
afterEach(() => rm(dir, { recursive: true }));

describe('The check of generated modules', () => {
  it('is content when every file is as its schema says', async () => {
    await writeFile(join(dir, 'a.ts'), 'A');
    expect(await differences(new Map([['a.ts', 'A']]), dir)).toEqual([]);
  });

  it('names files that differ, are missing, or have no schema', async () => {
    await writeFile(join(dir, 'a.ts'), 'old');
    await writeFile(join(dir, 'gone.ts'), 'x');
    const expected = new Map([
      ['a.ts', 'new'],
      ['b.ts', 'B'],
    ]);
    expect(await differences(expected, dir)).toEqual([
      'gone.ts has no schema',
      'a.ts differs from its schema',
      'b.ts is missing',
    ]);
  });

  it('takes a folder that is not there for an empty one', async () => {
    expect(await differences(new Map([['a.ts', 'A']]), join(dir, 'nowhere'))).toEqual(['a.ts is missing']);
  });
});
