import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessUsage {
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  /** Most memory ever resident. */
  readonly peakMiB: number;
}

/** What the kernel counts in for /proc: USER_HZ, which is 100 on every platform that Node runs on. */
const TICKS_PER_SECOND = 100;
const UTIME = 11;
const STIME = 12;

/** Linux only. @throws when the process has ended */
export function usageOf(pid: number): ProcessUsage {
  const folder = `/proc/${String(pid)}`;
  return {
    cpuSeconds: cpuSecondsOf(readFileSync(`${folder}/stat`, 'latin1')),
    peakMiB: peakMiBOf(readFileSync(`${folder}/status`, 'latin1')),
  };
}

/** @param stat the content of /proc/PID/stat */
export function cpuSecondsOf(stat: string): number {
  // The second field is the command in brackets, which may itself hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (numberIn(fields[UTIME]) + numberIn(fields[STIME])) / TICKS_PER_SECOND;
}

/** @param status the content of /proc/PID/status */
export function peakMiBOf(status: string): number {
  return numberIn(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

export function sumUsage(usages: readonly ProcessUsage[]): ProcessUsage {
  return {
    cpuSeconds: usages.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
    peakMiB: usages.reduce((sum, { peakMiB }) => sum + peakMiB, 0),
  };
}

function numberIn(text: string | undefined): number {
  const value = Number(text);
  if (text === undefined || !Number.isFinite(value)) throw new Error(`Not a process usage: ${String(text)}`);
  return value;
}

/** Milliseconds that the main thread of a process was ready to run and had no processor; Linux only. */
export function waitedForCpuMs(pid: number): number {
  return waitedMsOf(readFileSync(`/proc/${String(pid)}/schedstat`, 'latin1'));
}

/** @param schedstat the content of /proc/PID/schedstat: nanoseconds that it ran and that it waited, and a count */
export function waitedMsOf(schedstat: string): number {
  return numberIn(schedstat.split(' ')[1]) / 1e6;
}

const CHILDREN_TIMES = 13;

/** Of a process and all that it has started, such as the backends of PostgreSQL, also those that have ended. */
export function treeUsage(pid: number): ProcessUsage {
  const stats = readStats();
  const tree = new Set([pid]);
  for (let before = 0; before < tree.size;) {
    before = tree.size;
    for (const [child, { parent }] of stats) if (tree.has(parent)) tree.add(child);
  }
  let cpuSeconds = 0;
  let peakMiB = 0;
  for (const member of tree) {
    const found = stats.get(member);
    if (found === undefined) continue;
    cpuSeconds += cpuSecondsOf(found.stat) + endedChildrenSeconds(found.stat);
    peakMiB += peakMiBIfAlive(member);
  }
  return { cpuSeconds, peakMiB };
}

/** 0 for a process that has ended meanwhile, as backends of PostgreSQL do. */
function peakMiBIfAlive(pid: number): number {
  try {
    return peakMiBOf(readFileSync(`/proc/${String(pid)}/status`, 'latin1'));
  } catch {
    return 0;
  }
}

/** User and system time of the children that it has waited for: fields 16 and 17 of /proc/PID/stat. */
function endedChildrenSeconds(stat: string): number {
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(CHILDREN_TIMES, CHILDREN_TIMES + 2);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

function readStats(): Map<number, { readonly stat: string; readonly parent: number }> {
  const stats = new Map<number, { readonly stat: string; readonly parent: number }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      stats.set(Number(name), { stat, parent });
    } catch {
      // It has ended meanwhile.
    }
  }
  return stats;
}

/** Of the line `cpu` in /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already. */
const IDLE_FIELDS = new Set([3, 4]);
const FIELDS = 8;

/** CPU time of the whole machine that was not idle, since it runs. */
export function busyCpuSeconds(): number {
  const [line = ''] = readFileSync('/proc/stat', 'latin1').split('\n');
  const fields = line
    .split(/\s+/)
    .slice(1, FIELDS + 1)
    .map(Number);
  const ticks = fields.reduce((sum, value, index) => (IDLE_FIELDS.has(index) ? sum : sum + value), 0);
  return ticks / TICKS_PER_SECOND;
}
