import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { linesOf } from '../lines-of.js';
import { messageOf } from '../terminal/message-of.js';
import { CliError } from '../terminal/output.js';
import { eventTimeOf, type TrackRow } from './ping-line.js';

export interface TrackLine {
  readonly number: number;
  readonly row: TrackRow;
  /** Bytes of the file that have been read so far, for a progress bar. */
  readonly bytesRead: number;
}

export async function fileSizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${messageOf(error)}.`, 1, { cause: error });
  }
}

/** The rows of an NDJSON file in their order; `.gz` is unpacked. Empty lines are passed over. */
export async function* trackLines(path: string): AsyncGenerator<TrackLine> {
  const file = createReadStream(path);
  const text = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  // pipe() does not hand errors on; without this a file that cannot be read would end like an empty one.
  file.on('error', (error) => text.destroy(error));
  let number = 0;
  try {
    for await (const line of linesOf(text)) {
      number += 1;
      if (line.trim() !== '') yield { number, row: parseRow(path, number, line), bytesRead: file.bytesRead };
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${path} cannot be read after line ${String(number)}: ${messageOf(error)}.`, 1, {
      cause: error,
    });
  } finally {
    file.destroy();
  }
}

/** The newest time of all rows; null for a file without any. */
export async function newestEventTime(path: string): Promise<number | null> {
  let newest: number | null = null;
  for await (const { row } of trackLines(path)) {
    const time = eventTimeOf(row);
    if (time !== null && (newest === null || time > newest)) newest = time;
  }
  return newest;
}

function parseRow(path: string, number: number, line: string): TrackRow {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as TrackRow;
  } catch {
    // Reported below, like every other line that is not an object.
  }
  throw new CliError(`Line ${String(number)} of ${path} is not a JSON object.`);
}
