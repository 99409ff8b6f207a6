import { readFileSync } from 'node:fs';

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
  if (text === undefined || !Number.isFinite(value)) throw new Error(`This is no process usage: ${String(text)}`);
  return value;
}
