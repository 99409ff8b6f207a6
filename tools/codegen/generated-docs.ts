import { join } from 'node:path';
import { coveragePage, readCoverage } from './coverage/coverage-page.js';
import { formatted } from './formatted.js';
import { apiPage } from './reference/api-page.js';
import { cliPage } from './reference/cli-page.js';
import { configurationPage } from './reference/configuration-page.js';
import { metricsPage } from './reference/metrics-page.js';
import { topicsPage } from './reference/topics-page.js';

/** The generated pages under docs/: absolute path to exact text. `root`: the project's folder. */
export async function generatedDocs(root: string): Promise<Map<string, string>> {
  const pages = new Map([
    ['coverage.md', coveragePage(await readCoverage(root))],
    ['reference/api.md', apiPage()],
    ['reference/cli.md', cliPage()],
    ['reference/configuration.md', await configurationPage(root)],
    ['reference/metrics.md', await metricsPage(root)],
    ['reference/topics.md', topicsPage()],
  ]);
  const docs = new Map<string, string>();
  for (const [name, page] of pages) {
    const path = join(root, 'docs', name);
    docs.set(path, await formatted(path, page));
  }
  return docs;
}
