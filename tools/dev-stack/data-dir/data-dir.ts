import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { takeLock } from '../exclusive-lock.js';
import { choosePort } from '../free-port.js';
import { processesMarked, signalGroup } from '../processes/process-identity.js';
import { StackError } from '../stack-error.js';

/** A stack's folder, locked by this process. */
export interface DataDir {
  readonly path: string;
  readonly logsDir: string;
  /** `NAME=value`, the same for every start in this folder, in the environment of its processes. */
  readonly mark: string;
  file(name: string): string;
  /** The port of that name: the one of the last start if it is still free. */
  port(name: string, fallback?: number): Promise<number>;
  release(): Promise<void>;
}

type Ports = Record<string, number>;

/**
 * Creates the folder if necessary and locks it. Processes that a predecessor left behind are ended first, since they
 * would write to the same files.
 * @throws StackError `data_dir_in_use`, `data_dir_unusable`
 */
export async function openDataDir(folder: string): Promise<DataDir> {
  const path = await makeFolder(resolve(folder));
  const lock = await takeLock(join(path, 'stack.lock'));
  if (lock.type === 'taken') {
    const message = `The stack with process id ${String(lock.holder.pid)} uses ${path}: stop it, or name another --data-dir.`;
    throw new StackError('data_dir_in_use', message);
  }
  const mark = `WAYPOST_STACK_MARK=${createHash('sha256').update(path).digest('hex').slice(0, 24)}`;
  for (const pid of processesMarked(mark)) signalGroup(pid, 'SIGKILL');

  const portsFile = join(path, 'ports.json');
  const ports = ((await readJsonFile(portsFile)) ?? {}) as Ports;
  const given = new Set<number>();
  return {
    path,
    logsDir: join(path, 'logs'),
    mark,
    file: (name) => join(path, name),
    async port(name, fallback) {
      const port = await choosePort({ preferred: ports[name] ?? fallback, taken: given });
      given.add(port);
      ports[name] = port;
      await writeJsonFile(portsFile, ports);
      return port;
    },
    release: lock.release,
  };
}

async function makeFolder(path: string): Promise<string> {
  try {
    await mkdir(join(path, 'logs'), { recursive: true });
    return await realpath(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StackError('data_dir_unusable', `The data directory ${path} cannot be used: ${reason}.`, {
      cause: error,
    });
  }
}

/** null: the file does not exist. */
export async function readJsonFile(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces the file atomically, readable only by its owner: such files have passwords and keys. */
export async function writeJsonFile(file: string, value: unknown): Promise<void> {
  const temporary = `${file}.${String(process.pid)}-${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
