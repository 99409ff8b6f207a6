/** Builds the site into .waypost/site. A dead link ends it. The generator is installed on first use. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

function run(file, args) {
  const { status } = spawnSync(file, args, { cwd: folder, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function isInstalled() {
  const lock = join(folder, 'node_modules/.package-lock.json');
  if (!existsSync(lock)) return false;
  const versions = (file) =>
    Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages).filter(
      ([path, { optional }]) => path !== '' && !optional,
    );
  const installed = new Map(versions(lock).map(([path, { version }]) => [path, version]));
  return versions(join(folder, 'package-lock.json')).every(([path, { version }]) => installed.get(path) === version);
}

if (!isInstalled()) run('npm', ['ci', '--ignore-scripts']);
run(process.execPath, [
  'node_modules/vitepress/bin/vitepress.js',
  ...(process.argv.includes('--serve') ? ['dev'] : ['build']),
]);
