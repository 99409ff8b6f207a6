import { readFileSync } from 'node:fs';
import { link, rm, writeFile } from 'node:fs/promises';
import { identityOf, isAlive, type ProcessIdentity } from './processes/process-identity.js';

export type LockResult =
  | { readonly type: 'held'; readonly release: () => Promise<void> }
  | { readonly type: 'taken'; readonly holder: ProcessIdentity };

/** Takes a lock file for this process. A lock whose holder has died counts as free. */
export async function takeLock(file: string): Promise<LockResult> {
  const me = identityOf(process.pid);
  if (me === null) throw new Error('This process cannot be seen in the process table.');
  const mine = `${file}.${String(me.pid)}`;
  await writeFile(mine, JSON.stringify(me));
  try {
    for (;;) {
      // A link appears with its content in one step; two processes cannot both make it.
      const made = await link(mine, file).then(
        () => true,
        () => false,
      );
      if (made) return { type: 'held', release: releaseOnce(file) };
      const holder = holderOf(file);
      if (holder !== null && isAlive(holder)) return { type: 'taken', holder };
      await rm(file, { force: true });
    }
  } finally {
    await rm(mine, { force: true });
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
