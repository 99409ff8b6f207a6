import { join } from 'node:path';
import { coveragePage, readCoverage } from './coverage/coverage-page.js';
import { formatted } from './generated-modules.js';

/** The generated pages under docs/: absolute path to exact text. `root`: the project's folder. */
export async function generatedDocs(root: string): Promise<Map<string, string>> {
  const pages = new Map([['coverage.md', coveragePage(await readCoverage(root))]]);
  const docs = new Map<string, string>();
  for (const [name, page] of pages) {
    const path = join(root, 'docs', name);
    docs.set(path, await formatted(path, page, 'markdown'));
  }
  return docs;
}
