import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../test/support/until.js';
import { identityOf, type ProcessIdentity } from '../processes/process-identity.js';

interface Lock {
  readonly withLock: <T>(
    name: string,
    work: () => Promise<T>,
    options: {
      readonly folder: string;
      readonly write: (line: string) => void;
      readonly isHeldBy?: (holder: ProcessIdentity) => boolean;
      readonly makeLink?: (from: string, to: string) => void;
    },
  ) => Promise<T>;
}

const { withLock } = (await import(new URL('./lock.mjs', import.meta.url).href)) as Lock;

let folder: string;
let lines: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waypost-bootstrap-'));
  lines = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function locked(): Promise<string> {
  return withLock('install', () => Promise.resolve('done'), { folder, write: (line) => lines.push(line) });
}

describe('withLock', () => {
  it.each([
    ['of this process id, left by an earlier process', { pid: process.pid, startTime: 'earlier' }],
    ['whose process id now belongs to another process', { pid: process.ppid, startTime: 'earlier' }],
    ['of a process that has ended', { pid: 2 ** 22 + 1, startTime: '1' }],
    ['in the form of an earlier version', process.ppid],
  ])('takes over a lock %s, and leaves none', async (_case, holder) => {
    await writeFile(join(folder, 'install.lock'), JSON.stringify(holder));
    expect(await locked()).toBe('done');
    expect(lines).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('waits for a process that runs, and says for which', async () => {
    const holder = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(holder, 'spawn');
    await writeFile(join(folder, 'install.lock'), JSON.stringify(identityOf(holder.pid ?? 0)));
    const work = locked();
    await until(() => {
      if (lines.length === 0) throw new Error('No line was written yet.');
    });
    expect(lines).toEqual([`Waiting for process ${String(holder.pid)}, which holds ${join(folder, 'install.lock')}.`]);
    holder.kill('SIGKILL');
    expect(await work).toBe('done');
  });

  it('leaves a lock alone that another takes while it looks at the one of a dead process', async () => {
    const file = join(folder, 'install.lock');
    const [dead, other] = [
      { pid: 2 ** 22 + 1, startTime: '1' },
      { pid: 2 ** 22 + 2, startTime: '1' },
    ];
    await writeFile(file, JSON.stringify(dead));
    const seen: number[] = [];
    const isHeldBy = ({ pid }: ProcessIdentity): boolean => {
      seen.push(pid);
      if (pid === dead.pid) writeFileSync(file, JSON.stringify(other));
      // It is held until it has been seen twice.
      return pid === other.pid && seen.length < 3;
    };
    await withLock('install', () => Promise.resolve(), { folder, write: (line) => lines.push(line), isHeldBy });
    expect(seen).toEqual([dead.pid, other.pid, other.pid]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('puts that lock back, but not over the one of a third process that came in the meantime', async () => {
    const file = join(folder, 'install.lock');
    const [dead, second, third] = [1, 2, 3].map((number) => ({ pid: 2 ** 22 + number, startTime: '1' }));
    await writeFile(file, JSON.stringify(dead));
    const seen: number[] = [];
    const isHeldBy = ({ pid }: ProcessIdentity): boolean => {
      seen.push(pid);
      if (pid === dead?.pid) writeFileSync(file, JSON.stringify(second));
      // It is held until it has been seen twice.
      return pid !== dead?.pid && seen.length < 3;
    };
    const makeLink = (from: string, to: string): void => {
      if (from.includes('.stale-')) writeFileSync(to, JSON.stringify(third));
      linkSync(from, to);
    };
    await withLock('install', () => Promise.resolve(), {
      folder,
      write: (line) => lines.push(line),
      isHeldBy,
      makeLink,
    });
    expect(seen).toEqual([dead?.pid, third?.pid, third?.pid]);
    expect(await readdir(folder)).toEqual([]);
  });
});
