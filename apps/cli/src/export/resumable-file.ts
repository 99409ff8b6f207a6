import { access, type FileHandle, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { usageError } from '../terminal/output.js';

/** Progress of an export, kept beside the file until it is complete. */
interface SavedProgress {
  /** The query: another one must not resume this file. */
  readonly query: string;
  /** Where it comes from: positions of one stack mean nothing in another. */
  readonly source: string;
  /** Length of the file in bytes; anything after that was written as the process ended. */
  readonly bytes: number;
  readonly records: number;
  /** Where reading continues, by partition. */
  readonly positions: Readonly<Record<string, number>>;
}

/** A file that a killed export can be resumed with: text and positions of a batch count together or not at all. */
export interface ResumableFile {
  /** Where reading continues, by partition; empty at the beginning. */
  readonly positions: ReadonlyMap<number, number>;
  readonly records: number;
  append(text: string, batch: { partition: number; nextOffset: number; records: number }): Promise<void>;
  /** Everything is written. The progress is kept until `forget`, for a conversion that follows. */
  close(): Promise<void>;
  forget(): Promise<void>;
}

export interface ResumableOptions {
  readonly file: string;
  /** What is left when everything is done: `file`, or what it is converted to. */
  readonly result: string;
  readonly query: string;
  /** The stack that is read, in words. */
  readonly source: string;
  readonly header: string;
  readonly resume: boolean;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

const SAVE_EVERY_MS = 500;

export async function openResumable(options: ResumableOptions): Promise<ResumableFile> {
  const { file, query, source, header, resume, now } = options;
  const progressFile = `${file}.progress.json`;
  const saved = resume ? await savedProgress(progressFile, options) : null;
  const handle = await open(file, saved === null ? 'w' : 'r+');
  const positions = new Map(Object.entries(saved?.positions ?? {}).map(([name, offset]) => [Number(name), offset]));
  let { bytes, records } = saved ?? { bytes: 0, records: 0 };
  let savedAt = now();

  async function save(): Promise<void> {
    const progress: SavedProgress = { query, source, bytes, records, positions: Object.fromEntries(positions) };
    // A half-written one would be none.
    await writeFile(`${progressFile}.tmp`, JSON.stringify(progress));
    await rename(`${progressFile}.tmp`, progressFile);
    savedAt = now();
  }

  await handle.truncate(bytes);
  if (saved === null) {
    bytes += await writeAt(handle, header, bytes);
    await save();
  }
  return {
    positions,
    get records() {
      return records;
    },
    async append(text, batch) {
      bytes += await writeAt(handle, text, bytes);
      records += batch.records;
      positions.set(batch.partition, batch.nextOffset);
      if (now() - savedAt >= SAVE_EVERY_MS) await save();
    },
    async close() {
      await save();
      await handle.close();
    },
    forget: () => rm(progressFile, { force: true }),
  };
}

async function writeAt(handle: FileHandle, text: string, position: number): Promise<number> {
  const data = Buffer.from(text);
  for (let done = 0; done < data.length;) {
    done += (await handle.write(data, done, data.length - done, position + done)).bytesWritten;
  }
  return data.length;
}

/** null: there is nothing to resume. */
async function savedProgress(
  progressFile: string,
  { file, result, query, source }: ResumableOptions,
): Promise<SavedProgress | null> {
  const text = await readFile(progressFile, 'utf8').catch(() => null);
  if (text === null) {
    if (!(await exists(result))) return null;
    // Its records may no longer be in the topic.
    throw usageError(`${result} has no progress to resume, as when it is complete: omit --resume to replace it.`);
  }
  const saved = JSON.parse(text) as SavedProgress;
  if (saved.query !== query) {
    throw usageError(`${file} was started with other options: repeat them, or omit --resume to start again.`);
  }
  if (saved.source !== source) {
    throw usageError(
      `${file} was started from another stack (${saved.source}), and this is ${source}: use that one, or omit --resume ` +
        'to start again.',
    );
  }
  const size = await stat(file).then(
    ({ size }) => size,
    () => 0,
  );
  if (size < saved.bytes) throw usageError(`${file} is shorter than before: omit --resume to start again.`);
  return saved;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
