/**
 * Checks deploy/prometheus/rules.yml with Prometheus' own promtool, and runs the tests of each alert. PROMTOOL names the
 * program; without it, the one on the PATH, else the one of Debian's package, unpacked into .waypost and not installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fail, projectRoot, say } from './project.mjs';

const folder = join(projectRoot, '.waypost/prometheus');
const unpacked = join(folder, 'usr/bin/promtool');

function works(program) {
  return spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
}

function run(program, args, cwd) {
  return spawnSync(program, args, { cwd, stdio: 'inherit' }).status === 0;
}

function downloaded() {
  if (existsSync(unpacked)) return unpacked;
  mkdirSync(folder, { recursive: true });
  say('Downloading promtool from the package registry of Debian.');
  if (!run('apt-get', ['download', '-q', 'prometheus'], folder)) return null;
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  return archive !== undefined && run('dpkg-deb', ['-x', archive, '.'], folder) ? unpacked : null;
}

const candidates = [process.env['PROMTOOL'], 'promtool'].filter((program) => program !== undefined && program !== '');
const promtool = candidates.find(works) ?? downloaded();
if (promtool === null || !works(promtool)) fail('promtool is needed: install Prometheus, or name it with PROMTOOL.');

const rules = join(projectRoot, 'deploy/prometheus');
const isGood =
  run(promtool, ['check', 'rules', 'rules.yml'], rules) && run(promtool, ['test', 'rules', 'rules.test.yml'], rules);
process.exitCode = isGood ? 0 : 1;
