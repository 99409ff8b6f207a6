import { execFile } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock } from './exclusive-lock.js';
import { StackError } from './stack-error.js';
import type { StackReporter } from './stack-reporter.js';

/** A download that Maven puts into a folder. */
export interface Download {
  /** The folder in the cache, a different one for each version. */
  readonly folder: string;
  /** For people, e.g. `Kafka 4.1.1 (43 MB)`. */
  readonly title: string;
  readonly mavenArguments: (outputFolder: string) => readonly string[];
}

/** Java cannot open non-ASCII paths in an ASCII locale. Only Linux needs this. */
export const JAVA_LOCALE = process.platform === 'linux' ? { LC_CTYPE: 'C.UTF-8' } : {};
const MAVEN_TIMEOUT_MS = 15 * 60_000;
const LOCK_POLL_MS = 300;

/** One cache for all clones of the project, so that only the first start ever downloads. */
export function defaultCacheDir(env: Readonly<Record<string, string | undefined>>): string {
  const given = env['WAYPOST_CACHE_DIR'];
  if (given !== undefined && given !== '') return given;
  const base = env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'waypost');
}

export function isDownloaded(cacheDir: string, download: Download): boolean {
  return existsSync(join(cacheDir, download.folder));
}

/**
 * Returns the folder with the download. A folder is complete or absent: it is filled under another name and then
 * renamed. Two processes that want the same one wait for each other instead of downloading twice.
 * @throws StackError `cache_dir_unusable`, `download_failed`, or the reason of the signal
 */
export async function ensureDownloaded(
  cacheDir: string,
  download: Download,
  reporter: StackReporter,
  signal?: AbortSignal,
): Promise<string> {
  const target = join(cacheDir, download.folder);
  if (existsSync(target)) return target;
  await makeCacheDir(cacheDir);
  await reporter.during(`Downloading ${download.title}`, async () => {
    for (;;) {
      signal?.throwIfAborted();
      const lock = await takeLock(`${target}.lock`);
      if (lock.type === 'held') {
        try {
          if (!existsSync(target)) await fetchInto(target, cacheDir, download, signal);
        } finally {
          await lock.release();
        }
        return;
      }
      await sleep(LOCK_POLL_MS);
      if (existsSync(target)) return;
    }
  });
  return target;
}

/** In many containers the home folder is read-only. */
async function makeCacheDir(cacheDir: string): Promise<void> {
  try {
    await mkdir(cacheDir, { recursive: true });
    await access(cacheDir, constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `Downloads cannot be kept in ${cacheDir} (${reason}): set WAYPOST_CACHE_DIR to a folder that can be written to.`;
    throw new StackError('cache_dir_unusable', message, { cause: error });
  }
}

async function fetchInto(
  target: string,
  cacheDir: string,
  download: Download,
  signal: AbortSignal | undefined,
): Promise<void> {
  const prefix = `incoming-${download.folder}-`;
  // Under the lock, a folder of this name is left over from an interrupted download.
  for (const left of (await readdir(cacheDir)).filter((name) => name.startsWith(prefix))) {
    await rm(join(cacheDir, left), { recursive: true, force: true });
  }
  const temporary = await mkdtemp(join(cacheDir, prefix));
  try {
    const output = join(temporary, 'files');
    signal?.throwIfAborted();
    await runMaven(['-B', '-q', ...download.mavenArguments(output)], { cwd: temporary, title: download.title, signal });
    await rename(output, target);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

interface MavenRun {
  /** A separate folder: a plugin without a project writes its marker files into the current one. */
  readonly cwd: string;
  readonly title: string;
  readonly signal: AbortSignal | undefined;
}

/** Settles when Maven has ended, even after an abort: the folder that it writes to is deleted next. */
function runMaven(args: readonly string[], { cwd, title, signal }: MavenRun): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, LC_ALL: undefined, ...JAVA_LOCALE };
    const options = { cwd, env, timeout: MAVEN_TIMEOUT_MS, maxBuffer: 64 << 20 };
    const maven = execFile('mvn', args, options, (error, stdout, stderr) => {
      signal?.removeEventListener('abort', stop);
      if (error === null) {
        resolve();
        return;
      }
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      const reason = `${stdout}${stderr}`.split('\n').find((line) => line.includes('ERROR')) ?? error.message;
      const message = `${title} cannot be downloaded; check the network and Maven's settings. Maven says: ${reason.trim()}`;
      reject(new StackError('download_failed', message));
    });
    function stop(): void {
      maven.kill();
    }
    signal?.addEventListener('abort', stop);
  });
}
