import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import {
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { startTimeOf } from '../processes/process-identity.js';
import { StackError } from '../stack-error.js';

/** Where root keeps files for the user "postgres": not in a world-writable folder, and not cleaned by the system. */
export const ROOT_PLACE = '/var/lib/waypost';

const OWNER_FILE = 'belongs-to';
const ABANDONED_MS = 24 * 3_600_000;

interface PlaceOptions {
  /** `<data dir>/postgres`. */
  readonly folder: string;
  readonly user: UserIds | undefined;
  readonly rootPlace?: string;
  readonly canReach?: (folder: string, user: UserIds) => boolean;
  readonly now?: () => number;
  /** Receives a line about each cluster that seems unused and that only its owner can delete. */
  readonly note?: (line: string) => void;
}

/**
 * The folder of the cluster, owned by the user that runs Postgres. It is `folder` itself if that user can reach it.
 * Under one of root's closed folders, such as one of mkdtemp, `folder` is a link to a place that the user can reach, so
 * that a later start on the same data directory finds the same data.
 */
export async function clusterPlace(options: PlaceOptions): Promise<string> {
  const { folder, user, rootPlace = ROOT_PLACE, canReach = reaches, now = Date.now, note = () => undefined } = options;
  if (user === undefined) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
  const clusters = join(rootPlace, 'clusters');
  const linked = await linkTarget(folder);
  if (linked !== null) await adopt(linked, folder, now());
  // Only now: this data directory may have been moved, and its cluster would look abandoned.
  await removeAbandoned(clusters, now(), note);
  if (linked !== null) return linked;
  if (canReach(dirname(folder), user)) return makeFor(folder, user);
  if (existsSync(folder)) throw unreachable(folder);

  const place = await makeFor(join(clusters, randomBytes(8).toString('hex'), basename(folder)), user);
  await adopt(place, folder, now());
  await symlink(place, folder);
  return place;
}

function reaches(folder: string, user: UserIds): boolean {
  return canPass(foldersAbove(folder), user);
}

async function makeFor(folder: string, user: UserIds): Promise<string> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o755 });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chown(folder, user.uid, user.gid);
  return folder;
}

async function linkTarget(folder: string): Promise<string | null> {
  const entry = await lstat(folder).catch(() => null);
  return entry?.isSymbolicLink() === true ? readlink(folder) : null;
}

/** Records whose cluster it is, and that it is in use; the data directory may have been moved since the last start. */
async function adopt(place: string, folder: string, now: number): Promise<void> {
  if (!existsSync(place)) {
    throw new StackError('data_dir_unusable', `${folder} leads to ${place}, which is gone: use another --data-dir.`);
  }
  const owner = join(dirname(place), OWNER_FILE);
  await writeFile(owner, folder);
  await utimes(owner, now / 1000, now / 1000);
}

/** If a data directory is deleted without its cluster, the cluster is removed a day after its last start. */
async function removeAbandoned(clusters: string, now: number, note: (line: string) => void): Promise<void> {
  for (const name of await readdir(clusters).catch(() => [])) {
    const cluster = join(clusters, name);
    const owner = join(cluster, OWNER_FILE);
    const folder = await readFile(owner, 'utf8').catch(() => null);
    if (folder === null || existsSync(dirname(folder))) continue;
    const { mtimeMs } = await stat(owner);
    if (now - mtimeMs <= ABANDONED_MS || (await isServed(join(cluster, basename(folder), 'cluster')))) continue;
    // Under a folder that is gone or empty, as where a volume is not mounted, it may only be out of sight.
    const others = await readdir(dirname(dirname(folder))).catch(() => []);
    if (others.length > 0) await rm(cluster, { recursive: true, force: true });
    else note(`${cluster} is the database of ${dirname(folder)}, which cannot be seen: delete it if that is gone.`);
  }
}

/** In doubt, yes: the process id may by now be that of another program. */
async function isServed(cluster: string): Promise<boolean> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => null);
  return text !== null && startTimeOf(Number(text.split('\n')[0])) !== null;
}

function unreachable(folder: string): StackError {
  const message = `The user "postgres" cannot reach ${folder}: open the folders above it to all users (chmod o+x), or use another --data-dir.`;
  return new StackError('data_dir_unusable', message);
}

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

export interface FolderMode extends UserIds {
  readonly mode: number;
}

const OWNER_SEARCH = 0o100;
const GROUP_SEARCH = 0o010;
const OTHERS_SEARCH = 0o001;

/** Whether this user may pass through all these folders. */
export function canPass(folders: readonly FolderMode[], user: UserIds): boolean {
  return folders.every(({ mode, uid, gid }) => {
    if (uid === user.uid) return (mode & OWNER_SEARCH) !== 0;
    if (gid === user.gid) return (mode & GROUP_SEARCH) !== 0;
    return (mode & OTHERS_SEARCH) !== 0;
  });
}

/** The folder and all of its parents. */
export function foldersAbove(path: string): FolderMode[] {
  const { mode, uid, gid } = statSync(path);
  const parent = dirname(path);
  return [{ mode, uid, gid }, ...(parent === path ? [] : foldersAbove(parent))];
}
