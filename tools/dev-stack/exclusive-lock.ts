import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { identityOf, isAlive, type ProcessIdentity } from './processes/process-identity.js';
import { StackError } from './stack-error.js';

export type LockResult =
  | { readonly type: 'held'; readonly release: () => Promise<void> }
  | { readonly type: 'taken'; readonly holder: ProcessIdentity };

/**
 * Takes a lock file for this process. A lock whose holder has died counts as free.
 * @throws StackError `lock_impossible` on a file system without hard links
 */
export async function takeLock(file: string, makeLink: typeof link = link): Promise<LockResult> {
  const me = identityOf(process.pid);
  if (me === null) throw new Error('This process cannot be seen in the process table.');
  const mine = `${file}.${String(me.pid)}-${randomBytes(4).toString('hex')}`;
  await writeFile(mine, JSON.stringify(me));
  try {
    for (;;) {
      if (await isLinked(file, makeLink(mine, file))) return { type: 'held', release: releaseOnce(file) };
      const holder = holderOf(file);
      if (holder !== null && isAlive(holder)) return { type: 'taken', holder };
      await rm(file, { force: true });
    }
  } finally {
    await rm(mine, { force: true });
  }
}

/** A link appears with its content atomically; two processes cannot both create it. */
async function isLinked(file: string, linking: Promise<void>): Promise<boolean> {
  try {
    await linking;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `${file} cannot be locked (${reason}): use a folder on a file system with hard links.`;
    throw new StackError('lock_impossible', message, { cause: error });
  }
}

/** A second call must not remove the lock of the next holder. */
function releaseOnce(file: string): () => Promise<void> {
  let released: Promise<void> | undefined;
  return () => (released ??= rm(file, { force: true }));
}

function holderOf(file: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity;
  } catch {
    return null;
  }
}
