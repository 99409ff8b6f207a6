import { writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const LOWEST = -20;
const HIGHEST = 19;

/**
 * Adds to the nice level of this process, as `nice -n` does, and gives the sum to another one: below 0 it gets a core
 * before others, which needs rights. Without them, or when the process has ended, everything stays as it was: it is a
 * matter of speed alone.
 *
 * On Linux the session of the process gets the level as well. Where the kernel groups processes by session
 * ("autogroup"), sessions share the cores equally, and the level of a process counts only within its own session.
 */
export function adjustNiceness(pid: number, adjustment: number): void {
  const niceness = Math.min(HIGHEST, Math.max(LOWEST, getPriority() + adjustment));
  ignoreRefusal(() => setPriority(pid, niceness));
  if (process.platform === 'linux') {
    ignoreRefusal(() => writeFileSync(`/proc/${String(pid)}/autogroup`, String(niceness)));
  }
}

function ignoreRefusal(change: () => void): void {
  try {
    change();
  } catch {
    // Described above: not permitted, not supported, or no such process.
  }
}
