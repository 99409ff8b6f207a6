/*
 * The fault suite: `npm run test:integrity -- --seed 7 --minutes 5`. Says what it does on standard error and its verdict
 * as one line of JSON on standard output; ends with 1 when anything was broken.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTerminalReporter } from '../../tools/dev-stack/index.js';
import { readOptions, type IntegrityOptions } from './integrity-config.js';
import { runSuite } from './run/suite.js';

const reporter = createTerminalReporter({ stream: process.stderr });

async function main(options: IntegrityOptions): Promise<number> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'waypost-integrity-')));
  // As root, PostgreSQL (which the registry needs) runs as another user, who has to get in.
  if (options.folder === undefined) await chmod(folder, 0o711);
  const verdict = await runSuite(options, folder, reporter);
  if (verdict.integrity === 'intact' && options.folder === undefined)
    await rm(folder, { recursive: true, force: true });
  else reporter.note(`Data and logs: ${folder}`);
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
  return verdict.integrity === 'intact' ? 0 : 1;
}

function optionsOrExit(): IntegrityOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}

try {
  process.exit(await main(optionsOrExit()));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
}
