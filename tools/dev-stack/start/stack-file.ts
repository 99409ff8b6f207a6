import { type FSWatcher, watch } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type DataDir, readJsonFile, writeJsonFile } from '../data-dir/data-dir.js';

const API_KEYS = 'api-keys.json';

/** `DIR/stack.json` without the API keys, which come from `DIR/api-keys.json`. */
export interface StackFacts {
  readonly brokers: readonly string[];
  readonly registryUrl: string;
  readonly databaseUrl: string;
  readonly apiUrl: string;
  /** The admin addresses of every instance of every application. */
  readonly adminUrls: readonly string[];
  readonly pids: Readonly<Record<string, readonly number[]>>;
}

/** `DIR/stack.json`: present and accurate while the stack is ready. */
export interface StackFile {
  publish(facts: () => StackFacts): Promise<void>;
  /** Call when a fact has changed. Does nothing before `publish`. */
  readonly refresh: () => void;
  remove(): Promise<void>;
}

export function createStackFile(dataDir: DataDir, onError: (error: unknown) => void): StackFile {
  const file = dataDir.file('stack.json');
  let facts: (() => StackFacts) | undefined;
  let watcher: FSWatcher | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    if (facts === undefined) return;
    const apiKeys = ((await readJsonFile(dataDir.file(API_KEYS))) ?? {}) as Record<string, string>;
    // Read last, so that a process replaced in the meantime is included.
    await writeJsonFile(file, { ...facts(), apiKeys });
  }

  /** Serialized: an earlier state must not overwrite a later one. */
  function queue(work: () => Promise<void>): Promise<void> {
    const done = writing.then(work);
    writing = done.catch(() => undefined);
    return done;
  }

  function refresh(): void {
    queue(write).catch(onError);
  }

  return {
    async publish(newFacts) {
      facts = newFacts;
      watcher = watch(dataDir.path, (_event, name) => {
        if (name === API_KEYS) refresh();
      });
      watcher.on('error', onError);
      await queue(write);
    },
    refresh,
    async remove() {
      facts = undefined;
      watcher?.close();
      await queue(() => rm(file, { force: true }));
    },
  };
}
