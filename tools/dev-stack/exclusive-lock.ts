import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { identityOf, isAlive, type ProcessIdentity } from './processes/process-identity.js';
import { StackError } from './stack-error.js';

export type LockResult =
  | { readonly type: 'held'; readonly release: () => Promise<void> }
  | { readonly type: 'taken'; readonly holder: ProcessIdentity };

interface LockDeps {
  readonly makeLink?: typeof link;
  readonly isHeldBy?: (holder: ProcessIdentity) => boolean;
}

/**
 * Takes a lock file for this process. A lock whose holder has died counts as free.
 * @throws StackError `lock_impossible` on a file system without hard links
 */
export async function takeLock(
  file: string,
  { makeLink = link, isHeldBy = isAlive }: LockDeps = {},
): Promise<LockResult> {
  const me = identityOf(process.pid);
  if (me === null) throw new Error('This process cannot be seen in the process table.');
  const mine = `${file}.${String(me.pid)}-${randomBytes(4).toString('hex')}`;
  await writeFile(mine, JSON.stringify(me));
  try {
    for (;;) {
      if (await isLinked(file, makeLink(mine, file))) return { type: 'held', release: releaseOnce(file) };
      const content = await contentOf(file);
      if (content === null) continue;
      const holder = holderIn(content);
      if (holder !== null && isHeldBy(holder)) return { type: 'taken', holder };
      await removeStale(file, content, makeLink);
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

/**
 * Another process may have replaced the stale lock with its own since it was read: that one is put back, but not over a
 * newer one.
 */
async function removeStale(file: string, stale: string, makeLink: typeof link): Promise<void> {
  const aside = `${file}.stale-${randomBytes(4).toString('hex')}`;
  try {
    await rename(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    if ((await contentOf(aside)) !== stale) await isLinked(file, makeLink(aside, file));
  } finally {
    await rm(aside, { force: true });
  }
}

/** null: there is no lock any more. */
async function contentOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** null: the lock is free; a lock appears with its content. */
function holderIn(content: string): ProcessIdentity | null {
  try {
    return JSON.parse(content) as ProcessIdentity;
  } catch {
    return null;
  }
}
