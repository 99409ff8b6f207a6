import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type DataDir, openDataDir } from '../../../tools/dev-stack/data-dir/data-dir.js';
import { StackError } from '../../../tools/dev-stack/stack-error.js';

/** Says that everything in its folder may be deleted. */
const MARK = 'benchmark-data';
const LOGS = 'logs';

/**
 * Makes the folder, or empties the one that an earlier run has made.
 * @throws StackError `data_dir_unusable` when the folder holds other things
 */
export async function claimFolder(folder: string, { keep }: { readonly keep: boolean }): Promise<void> {
  await mkdir(folder, { recursive: true });
  const found = await readdir(folder);
  if (found.length > 0 && !found.includes(MARK)) {
    const message = `${folder} holds something else than data of the benchmark: name another --data-dir.`;
    throw new StackError('data_dir_unusable', message);
  }
  if (!keep) await clear(folder, found);
  await writeFile(join(folder, MARK), '');
}

/** Ends what an earlier run has left running; refuses while another one runs here. */
export async function openBenchFolder(folder: string, { keep }: { readonly keep: boolean }): Promise<DataDir> {
  await claimFolder(folder, { keep: true });
  await (await openDataDir(folder)).release();
  await claimFolder(folder, { keep });
  return openDataDir(folder);
}

/** The data is large; the logs may be wanted. */
export async function dropData(folder: string): Promise<void> {
  const found = await readdir(folder);
  await clear(
    folder,
    found.filter((name) => name !== LOGS && name !== MARK),
  );
}

async function clear(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
}
