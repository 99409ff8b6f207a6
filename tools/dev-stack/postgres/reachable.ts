import { statSync } from 'node:fs';
import { dirname } from 'node:path';

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

/** May this user pass through all these folders? */
export function canPass(folders: readonly FolderMode[], user: UserIds): boolean {
  return folders.every(({ mode, uid, gid }) => {
    if (uid === user.uid) return (mode & OWNER_SEARCH) !== 0;
    if (gid === user.gid) return (mode & GROUP_SEARCH) !== 0;
    return (mode & OTHERS_SEARCH) !== 0;
  });
}

/** The folder and all above it, up to the root. */
export function foldersAbove(path: string): FolderMode[] {
  const { mode, uid, gid } = statSync(path);
  const parent = dirname(path);
  return [{ mode, uid, gid }, ...(parent === path ? [] : foldersAbove(parent))];
}
