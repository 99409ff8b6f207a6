import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './project.mjs';

/** The folder with the program `node` of a version, which is downloaded unless it is there. */
export function binariesOf(version) {
  const folder = join(projectRoot, '.waypost', 'node', version);
  const binaries = join(folder, 'node_modules', 'node', 'bin');
  if (existsSync(join(binaries, 'node'))) return binaries;
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync('npm', ['install', '--prefix', folder, '--no-save', `node@${version}`], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`The npm package node@${version} cannot be installed.`);
  return binaries;
}
