import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { busyCpuSeconds, treeUsage } from './machine-usage.js';

const BUSY = 'const end = Date.now() + 300; while (Date.now() < end);';

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
