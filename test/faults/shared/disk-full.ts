import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Less than any file that a broker or a database still writes to. */
const FULL_AT_BYTES = 4_096;

/**
 * Whether a write by this process that makes a file longer fails, as on a disk without space (EFBIG for ENOSPC). The
 * kernel keeps the limit per process; children inherit it when they start.
 */
export async function limitDisk(pid: number, limit: 'full' | 'free'): Promise<void> {
  const soft = limit === 'full' ? String(FULL_AT_BYTES) : 'unlimited';
  try {
    // The kernel asks for the user that the process runs as, root or not.
    const { uid, gid } = await stat(`/proc/${String(pid)}`);
    await run('prlimit', ['--pid', String(pid), `--fsize=${soft}:unlimited`], { uid, gid });
  } catch (error) {
    if (isAlive(pid)) throw error;
  }
}

export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
