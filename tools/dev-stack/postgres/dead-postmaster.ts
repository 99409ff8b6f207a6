import { readFileSync, readlinkSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Removes the pid file of a server that was killed when its process id now belongs to some other program. Postgres would
 * refuse to start for fear of a second server on the same files; its own check looks at the id only.
 */
export async function forgetDeadPostmaster(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => null);
  const pid = Number(text?.split('\n')[0]);
  if (text === null || !Number.isInteger(pid) || mayBePostgres(pid)) return;
  await rm(file, { force: true });
}

/** In doubt, yes: then Postgres decides. */
function mayBePostgres(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    return basename(readlinkSync(`/proc/${String(pid)}/exe`)).startsWith('postgres');
  } catch {
    return isThere(pid);
  }
}

function isThere(pid: number): boolean {
  try {
    readFileSync(`/proc/${String(pid)}/stat`);
    return true;
  } catch {
    return false;
  }
}
