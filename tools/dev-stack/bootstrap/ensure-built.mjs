import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { withLock } from './lock.mjs';
import { PACKAGES, projectRoot } from './project.mjs';
import { runTool } from './run-tool.mjs';

const FOLDERS = ['apps', 'libs', 'packages', 'tools', 'bench'];
const SETTINGS = ['nest-cli.json', 'tsconfig.build.json', 'tsconfig.json', 'package-lock.json'];
const dist = join(projectRoot, 'dist');
const stampFile = join(dist, '.built-from.json');

/** Compiles the sources into dist when they have changed since the last build. */
export async function ensureBuilt() {
  if (isCurrent(listSources())) return;
  await withLock('build', async () => {
    // Another process may have built while this one waited; edits during the build count as not built.
    const sources = listSources();
    if (isCurrent(sources)) return;
    if (hasLostFiles(sources)) rmSync(dist, { recursive: true, force: true });
    rmSync(stampFile, { force: true });
    removeBuiltPackages();
    const nest = join(projectRoot, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
    await runTool('Building', process.execPath, [nest, 'build', 'public-api']);
    const vite = join(projectRoot, 'node_modules', 'vite', 'bin', 'vite.js');
    await runTool('Building the console', process.execPath, [vite, 'build', 'apps/console', '--logLevel', 'warn']);
    writeFileSync(
      stampFile,
      JSON.stringify({ fingerprint: fingerprint(sources), files: sources.map(({ file }) => file) }),
    );
  });
}

/** Nest takes a package that is built for an installed one, and the product would import it in place of its sources. */
export function removeBuiltPackages(root = projectRoot) {
  for (const folder of PACKAGES) rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
}

/** Files with size and time of their last change, which is quicker than reading them and no less telling. */
export function listSources(root = projectRoot) {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter(isSource)
      .map((file) => join(folder, file)),
  );
  return [...SETTINGS, ...files].sort().map((file) => {
    const { mtimeMs, size } = statSync(join(root, file));
    return { file, mtimeMs, size };
  });
}

function isSource(file) {
  if (!/\.(ts|tsx|css|html|svg)$/.test(file) || file.endsWith('.spec.ts')) return false;
  return !file.split(sep).some((part) => part === 'dist' || part === 'node_modules');
}

function fingerprint(sources) {
  const text = sources.map(({ file, mtimeMs, size }) => `${file} ${mtimeMs} ${size}\n`).join('');
  return createHash('sha256').update(text).digest('hex');
}

function isCurrent(sources) {
  return readStamp()?.fingerprint === fingerprint(sources);
}

/** A deleted source would leave its output behind, and without a stamp nothing is known about dist. */
function hasLostFiles(sources) {
  const present = new Set(sources.map(({ file }) => file));
  return readStamp()?.files.every((file) => present.has(file)) !== true;
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return undefined;
  }
}
