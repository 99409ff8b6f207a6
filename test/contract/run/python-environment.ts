import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { defaultCacheDir } from '../../../tools/dev-stack/download-cache.js';
import { takeLock } from '../../../tools/dev-stack/exclusive-lock.js';
import type { StackReporter } from '../../../tools/dev-stack/stack-reporter.js';

const run = promisify(execFile);

type Environment = Readonly<Record<string, string | undefined>>;

export type PythonEnvironment =
  | { readonly type: 'ready'; /** Its interpreter. */ readonly python: string }
  /** There is no Python that can be used; `reason` is a sentence. */
  | { readonly type: 'missing'; readonly reason: string };

/** What schemathesis asks for. */
const LEAST_MINOR = 10;
const INSTALL_TIMEOUT_MS = 5 * 60_000;
const LOCK_POLL_MS = 300;
const MARK = 'complete';

/**
 * The packages of a requirements file in an environment of their own, in the cache folder that all clones share.
 *
 * @throws Error when there is a Python but the packages cannot be installed
 */
export async function pythonEnvironment(
  requirementsFile: string,
  env: Environment,
  reporter: StackReporter,
): Promise<PythonEnvironment> {
  const found = await findPython(env);
  if (found.type === 'missing') return found;
  const requirements = await readFile(requirementsFile, 'utf8');
  const name = createHash('sha256').update(`${found.version}\n${requirements}`).digest('hex').slice(0, 12);
  const cacheDir = defaultCacheDir(env);
  const folder = join(cacheDir, `schemathesis-${name}`);
  const python = join(folder, 'bin', 'python');
  await mkdir(cacheDir, { recursive: true });
  while (!existsSync(join(folder, MARK))) {
    const lock = await takeLock(`${folder}.lock`);
    if (lock.type === 'held') {
      try {
        await reporter.during('Installing schemathesis', () => install(found.file, folder, requirementsFile, env));
      } finally {
        await lock.release();
      }
    } else await sleep(LOCK_POLL_MS);
  }
  return { type: 'ready', python };
}

type FoundPython =
  | { readonly type: 'found'; readonly file: string; readonly version: string }
  | Extract<PythonEnvironment, { type: 'missing' }>;

/** Some systems have a Python without the modules that make environments. */
const PROBE = 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])';

async function findPython(env: Environment): Promise<FoundPython> {
  const needed = `Python 3.${String(LEAST_MINOR)} or later`;
  for (const file of ['python3', 'python']) {
    const printed = await run(file, ['-c', PROBE], { env: { ...env } }).then(
      ({ stdout }) => stdout.trim(),
      (error: unknown) => ((error as { code?: unknown }).code === 'ENOENT' ? null : ''),
    );
    if (printed === null) continue;
    if (printed === '') {
      return { type: 'missing', reason: `${needed} with its modules venv and ensurepip is needed: install them.` };
    }
    const [major = 0, minor = 0] = printed.split('.').map(Number);
    if (major === 3 && minor >= LEAST_MINOR) return { type: 'found', file, version: printed };
    return { type: 'missing', reason: `${needed} is needed, but ${file} is ${printed}: install a newer one.` };
  }
  return { type: 'missing', reason: `${needed} is needed, but there is none: install it.` };
}

/** The mark is written last: an environment without it is made again. */
async function install(base: string, folder: string, requirementsFile: string, env: Environment): Promise<void> {
  if (existsSync(join(folder, MARK))) return;
  await rm(folder, { recursive: true, force: true });
  const options = { env: { ...env }, timeout: INSTALL_TIMEOUT_MS };
  await run(base, ['-m', 'venv', folder], options);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirementsFile];
  await run(join(folder, 'bin', 'python'), pip, options);
  await writeFile(join(folder, MARK), '');
}
