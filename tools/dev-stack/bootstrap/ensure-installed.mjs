import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { projectRoot } from './project.mjs';
import { runTool } from './run-tool.mjs';

const lockFile = join(projectRoot, 'package-lock.json');
const installedFile = join(projectRoot, 'node_modules', '.package-lock.json');
/** Holds the fingerprint of the package-lock.json that node_modules is known to agree with. */
const stampFile = join(projectRoot, 'node_modules', '.waypost-installed');

/** Installs the packages of package-lock.json when node_modules is missing or differs from it. */
export async function ensureInstalled() {
  if (isStamped()) return;
  await withLock('install', async () => {
    if (isStamped()) return;
    // Development packages too, whatever NODE_ENV says: the build needs them.
    if (!agrees()) await runTool('Installing packages', 'npm', ['ci', '--include=dev', '--no-fund', '--no-audit']);
    writeFileSync(stampFile, fingerprint());
  });
}

function isStamped() {
  try {
    return readFileSync(stampFile, 'utf8') === fingerprint();
  } catch {
    return false;
  }
}

function fingerprint() {
  return createHash('sha256').update(readFileSync(lockFile)).digest('hex');
}

/** After an install by hand, npm's own record of node_modules matches package-lock.json. */
function agrees() {
  try {
    const wanted = packagesIn(lockFile);
    const installed = packagesIn(installedFile);
    return Object.entries(wanted).every(([path, { version, optional, link }]) => {
      // The project itself, and its workspaces, which nothing here runs from node_modules.
      if (link === true || !path.startsWith('node_modules/')) return true;
      return installed[path] === undefined ? optional === true : installed[path].version === version;
    });
  } catch {
    return false;
  }
}

function packagesIn(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}
