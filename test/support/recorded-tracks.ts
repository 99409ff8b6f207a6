import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { PlainPing } from './plain-rules.js';

/** Recorded traffic lies beside the checkout, where there is any. */
const folder = fileURLToPath(new URL('../../../shared/data/', import.meta.url));

/** The counts that were published with the recordings, by the names of the columns. */
export type PublishedCounts = Readonly<Record<string, number>>;

export interface RecordedTrack {
  readonly name: string;
  readonly file: string;
  readonly counts: PublishedCounts;
}

/** All recordings; none on a machine without them. */
export function recordedTracks(): RecordedTrack[] {
  if (!existsSync(folder)) return [];
  const published = publishedCounts(readFileSync(join(folder, 'README.md'), 'utf8'));
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ndjson.gz'))
    .map((file) => {
      const name = file.replace('.ndjson.gz', '');
      const counts = published.get(name);
      if (counts === undefined) throw new Error(`No counts are published for ${file}.`);
      return { name, file: join(folder, file), counts };
    });
}

export function readTrack(file: string): PlainPing[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as PlainPing);
}

/** The table whose columns are event types and reasons for sending nothing. */
function publishedCounts(readme: string): Map<string, PublishedCounts> {
  const rows = readme
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const start = rows.findIndex((cells) => cells[0] === 'file' && cells.includes('position'));
  const header = rows[start];
  if (header === undefined) throw new Error('The recordings have no table of counts.');
  return new Map(
    rows.slice(start + 2).map(([name = '', ...cells]) => {
      const numbers = cells.map((cell, index) => [header[index + 1], Number(cell.replaceAll(',', ''))] as const);
      return [name, Object.fromEntries(numbers) as PublishedCounts];
    }),
  );
}
