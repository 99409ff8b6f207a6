import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from './project.mjs';

const POLL_MS = 200;

/** Runs the work while no other process of this checkout runs it; a holder that has died does not count. */
export async function withLock(name, work) {
  const folder = join(projectRoot, '.waypost');
  const file = join(folder, `${name}.lock`);
  const mine = `${file}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(mine, String(process.pid));
  try {
    while (!tryLink(mine, file)) {
      if (isDead(file)) rmSync(file, { force: true });
      else await sleep(POLL_MS);
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
function tryLink(from, to) {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function isDead(file) {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH' || error.code === 'ENOENT';
  }
}
