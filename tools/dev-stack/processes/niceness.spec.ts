import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { adjustNiceness } from './niceness.js';

describe('adjustNiceness', () => {
  let child: ReturnType<typeof spawn>;
  let pid: number;

  beforeEach(async () => {
    child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
    await once(child, 'spawn');
    pid = child.pid ?? 0;
  });

  afterEach(async () => {
    if (child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });

  it('adds to the level of this process', () => {
    adjustNiceness(pid, 7);
    expect(getPriority(pid)).toBe(Math.min(19, getPriority() + 7));
  });

  const autogroup = '/proc/self/autogroup';
  const groups = existsSync(autogroup) && /nice/.test(readFileSync(autogroup, 'utf8'));
  (groups ? it : it.skip)('sets the level of the session of the process, and of no other', () => {
    const own = readFileSync(autogroup, 'utf8');
    adjustNiceness(pid, 7);
    expect(readFileSync(`/proc/${String(pid)}/autogroup`, 'utf8')).toMatch(
      ` nice ${String(Math.min(19, getPriority() + 7))}\n`,
    );
    expect(readFileSync(autogroup, 'utf8')).toBe(own);
  });

  it('stays within the levels that exist', () => {
    adjustNiceness(pid, 100);
    expect(getPriority(pid)).toBe(19);
  });

  it('does nothing to a process that has ended', async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(() => adjustNiceness(pid, 7)).not.toThrow();
  });
});
