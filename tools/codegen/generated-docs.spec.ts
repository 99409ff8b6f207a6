import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { generatedDocs } from './generated-docs.js';

const ROOT = new URL('../..', import.meta.url).pathname;

describe('the generated pages under docs/', () => {
  it('are up to date (fix: npm run codegen)', async () => {
    const stale: string[] = [];
    for (const [path, text] of await generatedDocs(ROOT)) {
      if ((await readFile(path, 'utf8')) !== text) stale.push(relative(ROOT, path));
    }
    expect(stale).toEqual([]);
  });
});
