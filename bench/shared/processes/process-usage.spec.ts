import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import {
  busyCpuSeconds,
  cpuSecondsOf,
  peakMiBOf,
  sumUsage,
  treeUsage,
  usageOf,
  waitedForCpuMs,
  waitedMsOf,
} from './process-usage.js';

/** Fields 3 to 13 stand before utime (field 14) and stime (field 15), as proc(5) has them. */
function stat(command: string, utime: number, stime: number): string {
  return `4711 (${command}) S 1 4711 4711 0 -1 4194304 100 200 0 0 ${String(utime)} ${String(stime)} 9 9 20 0 11 0 1000 0 0\n`;
}

describe('The usage of a process', () => {
  it('is user and system time, in hundredths of a second', () => {
    expect(cpuSecondsOf(stat('node', 150, 25))).toBe(1.75);
  });

  it('is read past a command that looks like further fields', () => {
    expect(cpuSecondsOf(stat('a) S 1 (b', 150, 25))).toBe(1.75);
  });

  it('has the most memory that was ever resident, in MiB', () => {
    expect(peakMiBOf('VmPeak:\t  900000 kB\nVmHWM:\t  307200 kB\nVmRSS:\t  1024 kB\n')).toBe(300);
  });

  it('refuses a report without that figure', () => {
    expect(() => peakMiBOf('Name:\tnode\n')).toThrow('Not a process usage');
    expect(() => cpuSecondsOf('4711 (node) S 1')).toThrow('Not a process usage');
  });

  it('adds up over the processes of one configuration', () => {
    const processes = [
      { cpuSeconds: 1.5, peakMiB: 100 },
      { cpuSeconds: 2.5, peakMiB: 50 },
    ];
    expect(sumUsage(processes)).toEqual({ cpuSeconds: 4, peakMiB: 150 });
  });

  it('has the time for which it waited for a processor, in milliseconds', () => {
    expect(waitedMsOf('9000000 2500000 17\n')).toBe(2.5);
    expect(waitedForCpuMs(process.pid)).toBeGreaterThanOrEqual(0);
    expect(() => waitedMsOf('')).toThrow('Not a process usage');
  });

  it('is there for a process of this machine', () => {
    const { cpuSeconds, peakMiB } = usageOf(process.pid);
    expect(cpuSeconds).toBeGreaterThan(0);
    expect(peakMiB).toBeGreaterThan(10);
  });
});

const BUSY = 'while (process.cpuUsage().user < 300_000);';

describe('The CPU time of a process tree', () => {
  it('counts children, running and ended', async () => {
    const program = `const { spawnSync } = require('child_process'); spawnSync(process.execPath, ['-e', ${JSON.stringify(BUSY)}]); process.stdout.write('done'); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      expect(treeUsage(child.pid ?? 0).cpuSeconds).toBeGreaterThan(0.2);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('is part of the busy time of the machine', () => {
    const before = busyCpuSeconds();
    spawnSync(process.execPath, ['-e', BUSY]);
    expect(busyCpuSeconds() - before).toBeGreaterThan(0.1);
  });
});
