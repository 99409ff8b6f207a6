import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { canPass, clusterPlace } from './cluster-place.js';

const base = await mkdtemp(join(tmpdir(), 'waypost-place-'));
const rootPlace = join(base, 'root-place');
const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const closed = { user, rootPlace, canReach: () => false };
const dayMs = 24 * 3_600_000;
let dataDir: string;
let folder: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(base, 'data-'));
  folder = join(dataDir, 'postgres');
});

afterAll(() => rm(base, { recursive: true, force: true }));

describe('clusterPlace', () => {
  it('is the folder itself if the user can reach it', async () => {
    expect(await clusterPlace({ folder, user: undefined })).toBe(folder);
    expect(await clusterPlace({ folder, user, rootPlace, canReach: () => true })).toBe(folder);
    expect(existsSync(folder)).toBe(true);
  });

  it('is elsewhere under a closed folder, and linked, so that the next start finds it', async () => {
    const place = await clusterPlace({ ...closed, folder });
    expect(place.startsWith(rootPlace)).toBe(true);
    expect(await readlink(folder)).toBe(place);
    expect(await clusterPlace({ ...closed, folder })).toBe(place);
  });

  it('refuses a folder that has become unreachable rather than starting with empty data', async () => {
    await clusterPlace({ folder, user: undefined });
    await expect(clusterPlace({ ...closed, folder })).rejects.toMatchObject({ code: 'data_dir_unusable' });
  });

  it('follows a data directory that is moved', async () => {
    const place = await clusterPlace({ ...closed, folder });
    const moved = `${dataDir}-moved`;
    await rename(dataDir, moved);
    const later = () => Date.now() + 2 * dayMs;
    expect(await clusterPlace({ ...closed, folder: join(moved, 'postgres'), now: later })).toBe(place);
  });

  it('forgets a cluster a day after its last start when its data directory is gone', async () => {
    const place = await clusterPlace({ ...closed, folder });
    await writeFile(join(place, 'file'), 'data');
    await rm(dataDir, { recursive: true });
    const another = join(await mkdtemp(join(base, 'data-')), 'postgres');
    const startAnotherAfter = (ms: number) => clusterPlace({ ...closed, folder: another, now: () => Date.now() + ms });
    await startAnotherAfter(dayMs / 2);
    expect(existsSync(place)).toBe(true);
    const kept = await startAnotherAfter(dayMs + 60_000);
    expect(existsSync(place)).toBe(false);
    expect(existsSync(kept)).toBe(true);
  });

  it('keeps a cluster whose server runs, wherever its data directory is', async () => {
    const place = await clusterPlace({ ...closed, folder });
    await mkdir(join(place, 'cluster'));
    await writeFile(join(place, 'cluster', 'postmaster.pid'), `${String(process.pid)}\n${place}\n`);
    await rm(dataDir, { recursive: true });
    expect(await startAnotherLater()).toEqual([]);
    expect(existsSync(place)).toBe(true);
  });

  it.each([
    ['gone', (volume: string) => rename(volume, `${volume}-elsewhere`)],
    ['empty', (volume: string) => rename(join(volume, 'data'), `${volume}-elsewhere`)],
  ])(
    'keeps a cluster and says where it is when the folder above its data directory is %s, as without its volume',
    async (_, unmount) => {
      const volume = await mkdtemp(join(base, 'volume-'));
      folder = join(volume, 'data', 'postgres');
      await mkdir(join(volume, 'data'));
      const place = await clusterPlace({ ...closed, folder });
      await unmount(volume);
      expect(await startAnotherLater()).toContain(
        `${dirname(place)} is the database of ${volume}/data, which cannot be seen: delete it if that is gone.`,
      );
      expect(existsSync(place)).toBe(true);
    },
  );
});

/** @returns what the start of another stack says two days later */
async function startAnotherLater(): Promise<string[]> {
  const notes: string[] = [];
  const another = join(await mkdtemp(join(base, 'data-')), 'postgres');
  const later = () => Date.now() + 2 * dayMs;
  await clusterPlace({ ...closed, folder: another, now: later, note: (line) => notes.push(line) });
  return notes;
}

const database = { uid: 101, gid: 104 };
const root = { uid: 0, gid: 0 };

describe('canPass', () => {
  it('passes folders that are readable by all', () => {
    expect(
      canPass(
        [
          { ...root, mode: 0o755 },
          { ...root, mode: 0o711 },
        ],
        database,
      ),
    ).toBe(true);
  });

  it('stops at one closed folder anywhere above', () => {
    expect(
      canPass(
        [
          { ...root, mode: 0o755 },
          { ...root, mode: 0o700 },
          { ...root, mode: 0o755 },
        ],
        database,
      ),
    ).toBe(false);
  });

  it('goes by the bits of the owner for the owner, and of the group for its members, even where others have more', () => {
    expect(canPass([{ ...database, mode: 0o700 }], database)).toBe(true);
    expect(canPass([{ ...database, mode: 0o011 }], database)).toBe(false);
    expect(canPass([{ uid: 0, gid: 104, mode: 0o710 }], database)).toBe(true);
    expect(canPass([{ uid: 0, gid: 104, mode: 0o701 }], database)).toBe(false);
  });
});
