import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * When a process started, as the system reports it; null: there is none. Together with the process id it identifies one
 * process forever: ids are reused, but not with the same start time.
 */
export function startTimeOf(pid: number): string | null {
  try {
    if (process.platform === 'linux') return linuxStartTime(pid);
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

export function identityOf(pid: number): ProcessIdentity | null {
  const startTime = startTimeOf(pid);
  return startTime === null ? null : { pid, startTime };
}

export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  return startTimeOf(pid) === startTime;
}

/** Processes whose environment holds `NAME=value`. Linux only; elsewhere none are found. */
export function processesMarked(mark: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => pid !== process.pid && carries(pid, mark));
}

/** A signal to the process and to the group that it leads; one that has already ended is not an error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, signal);
    } catch {
      // The group is gone, or the process never led one.
    }
  }
}

function linuxStartTime(pid: number): string | null {
  const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
  // The second field is the command in brackets, which may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  // A zombie has ended, although its parent has not waited for it.
  return state === 'Z' || state === 'X' ? null : (fields[19] ?? null);
}

function carries(pid: number, mark: string): boolean {
  try {
    const environment = readFileSync(`/proc/${String(pid)}/environ`, 'latin1');
    return environment.split('\0').includes(mark) && startTimeOf(pid) !== null;
  } catch {
    return false;
  }
}
