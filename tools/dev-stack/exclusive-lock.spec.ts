import { existsSync, type PathLike, writeFileSync } from 'node:fs';
import { link, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { takeLock } from './exclusive-lock.js';
import { identityOf, type ProcessIdentity } from './processes/process-identity.js';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waypost-lock-'));
  file = join(folder, 'lock');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('takeLock', () => {
  it('gives the lock to one of many who ask at once, and names it to the others', async () => {
    const results = await Promise.all([takeLock(file), takeLock(file), takeLock(file)]);
    expect(results.filter(({ type }) => type === 'held')).toHaveLength(1);
    expect(results.find(({ type }) => type === 'taken')).toEqual({ type: 'taken', holder: identityOf(process.pid) });
  });

  it('can be taken again after its release, without leftovers', async () => {
    for (const _turn of [1, 2]) {
      const lock = await takeLock(file);
      if (lock.type !== 'held') throw new Error('The lock is not free.');
      await lock.release();
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it('says in a sentence that a file system has no hard links, and leaves nothing there', async () => {
    const refused = Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' });
    await expect(takeLock(file, { makeLink: () => Promise.reject(refused) })).rejects.toMatchObject({
      code: 'lock_impossible',
      message: `${file} cannot be locked (EPERM: operation not permitted): use a folder on a file system with hard links.`,
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['of a process that has ended', { pid: 2 ** 22 + 1, startTime: '1' }],
    ['whose process id now belongs to another process', { pid: process.pid, startTime: 'earlier' }],
  ])('takes over a lock %s', async (_case, holder) => {
    await writeFile(file, JSON.stringify(holder));
    expect((await takeLock(file)).type).toBe('held');
    expect(existsSync(file)).toBe(true);
  });

  it('leaves a lock alone that another takes while it looks at the one of a dead process', async () => {
    const [dead, living] = [{ pid: 2 ** 22 + 1, startTime: '1' }, identityOf(process.pid)];
    await writeFile(file, JSON.stringify(dead));
    const isHeldBy = (holder: ProcessIdentity): boolean => {
      if (holder.pid === dead.pid) writeFileSync(file, JSON.stringify(living));
      return holder.pid === living?.pid;
    };
    expect(await takeLock(file, { isHeldBy })).toEqual({ type: 'taken', holder: living });
    expect(await readdir(folder)).toEqual(['lock']);
  });

  it('puts that lock back, but not over the one of a third process that came in the meantime', async () => {
    const [dead, second] = [
      { pid: 2 ** 22 + 1, startTime: '1' },
      { pid: 2 ** 22 + 2, startTime: '1' },
    ];
    const third = identityOf(process.pid);
    await writeFile(file, JSON.stringify(dead));
    const isHeldBy = (holder: ProcessIdentity): boolean => {
      if (holder.pid === dead.pid) writeFileSync(file, JSON.stringify(second));
      return holder.pid !== dead.pid;
    };
    const makeLink = async (from: PathLike, to: PathLike): Promise<void> => {
      if (String(from).includes('.stale-')) writeFileSync(to, JSON.stringify(third));
      await link(from, to);
    };
    expect(await takeLock(file, { isHeldBy, makeLink })).toEqual({ type: 'taken', holder: third });
    expect(await readFile(file, 'utf8')).toBe(JSON.stringify(third));
    expect(await readdir(folder)).toEqual(['lock']);
  });
});
