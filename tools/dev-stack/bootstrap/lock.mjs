import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot, say } from './project.mjs';

const POLL_MS = 200;

/** Runs the work while no other process of this checkout runs it; a holder that has died does not count. */
export async function withLock(
  name,
  work,
  { folder = join(projectRoot, '.waypost'), write = say, isHeldBy = isAlive, makeLink = linkSync } = {},
) {
  const file = join(folder, `${name}.lock`);
  const mine = `${file}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(mine, JSON.stringify({ pid: process.pid, startTime: startTimeOf(process.pid) }));
  let hasSaid = false;
  try {
    while (!tryLink(mine, file, makeLink)) {
      const content = contentOf(file);
      if (content === null) continue;
      const holder = holderIn(content);
      if (!isHeldBy(holder)) {
        removeStale(file, content, makeLink);
        continue;
      }
      if (!hasSaid) write(`Waiting for process ${holder.pid}, which holds ${file}.`);
      hasSaid = true;
      await sleep(POLL_MS);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** A link appears together with its content, and only one process can make it. */
function tryLink(from, to, makeLink) {
  try {
    makeLink(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** As exclusive-lock.ts: another may have taken the lock since its content was read, and one more since. */
function removeStale(file, stale, makeLink) {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  try {
    if (contentOf(aside) !== stale) tryLink(aside, file, makeLink);
  } finally {
    rmSync(aside, { force: true });
  }
}

/** null: there is no lock any more. */
function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function holderIn(content) {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}

/** Process ids are used again, within a fresh container after a few seconds: this process may have that of the holder. */
function isAlive(holder) {
  if (typeof holder?.pid !== 'number' || holder.pid === process.pid) return false;
  const startTime = startTimeOf(holder.pid);
  return startTime !== null && startTime === holder.startTime;
}

/** As processes/process-identity.ts, which is not compiled yet when this runs. null: there is no such process. */
function startTimeOf(pid) {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the command in brackets, which may itself hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19];
  } catch {
    return null;
  }
}
