import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTerminalReporter, type StackReporter } from '../../tools/dev-stack/index.js';

interface CommonOptions {
  /** Folder for data and logs, which is kept; else a temporary one, which is deleted when all is well. */
  readonly folder: string | undefined;
}

export interface FaultSuite<Options extends CommonOptions, Verdict> {
  readonly name: string;
  /** @throws Error saying which flag is wrong */
  readonly readOptions: (args: readonly string[]) => Options;
  readonly run: (options: Options, folder: string, reporter: StackReporter) => Promise<Verdict>;
  readonly isIntact: (verdict: Verdict) => boolean;
}

/** A fault suite as a program: progress on standard error, its verdict as a line of JSON on standard output, then exit. */
export async function runFaultSuite<Options extends CommonOptions, Verdict>(
  suite: FaultSuite<Options, Verdict>,
): Promise<never> {
  try {
    process.exit(await runIn(suite, optionsOrExit(suite)));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(1);
  }
}

async function runIn<Options extends CommonOptions, Verdict>(
  { name, run, isIntact }: FaultSuite<Options, Verdict>,
  options: Options,
): Promise<number> {
  const reporter = createTerminalReporter({ stream: process.stderr });
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), `waypost-${name}-`)));
  // As root, PostgreSQL (which the registry needs) runs as another user, who has to get in.
  if (options.folder === undefined) await chmod(folder, 0o711);
  const verdict = await run(options, folder, reporter);
  if (isIntact(verdict) && options.folder === undefined) await rm(folder, { recursive: true, force: true });
  else reporter.note(`Data and logs: ${folder}`);
  process.stdout.write(`${JSON.stringify(verdict)}\n`);
  return isIntact(verdict) ? 0 : 1;
}

function optionsOrExit<Options extends CommonOptions, Verdict>({ readOptions }: FaultSuite<Options, Verdict>): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
