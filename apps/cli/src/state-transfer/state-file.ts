import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { TopicDefinition } from '@waypost/contracts';
import { CliError } from '../terminal/output.js';
import { MOVED_TOPICS } from './moved-topics.js';

/** A record of a topic that moves. */
export interface StateRecord {
  readonly topic: string;
  readonly key: string;
  /** When it was appended, epoch ms: a ping sees the versions of its own time (decisions 0028 and 0030). */
  readonly timestamp: number;
  /** In the wire format, whose schema id is that of the exporting registry; null: a tombstone. */
  readonly value: Buffer | null;
}

const VERSION = 1;
const headLine = z.object({ waypostState: z.literal(VERSION), schemas: z.record(z.string(), z.string()) });
const recordLine = z.object({
  topic: z.string(),
  key: z.string(),
  timestamp: z.number(),
  value: z.string().nullable(),
});
const endLine = z.object({ records: z.number() });

/**
 * NDJSON: a head with the schemas, a line per record in the order of its topic, and a last line with their number, by
 * which a file that was cut off is noticed. It holds positions of vehicles and sealed secrets: only its owner may read it.
 */
export class StateFileWriter {
  private records = 0;

  private constructor(
    private readonly path: string,
    private readonly file: FileHandle,
  ) {}

  static async create(path: string): Promise<StateFileWriter> {
    const file = await open(unfinished(path), 'w', 0o600);
    const writer = new StateFileWriter(path, file);
    await writer.line({ waypostState: VERSION, schemas: schemaDigests() });
    return writer;
  }

  async write(records: readonly StateRecord[]): Promise<void> {
    this.records += records.length;
    const lines = records.map(({ topic, key, timestamp, value }) =>
      JSON.stringify({ topic, key, timestamp, value: value?.toString('base64') ?? null }),
    );
    if (lines.length > 0) await this.file.appendFile(`${lines.join('\n')}\n`);
  }

  /** Gives the file its name, once all of it is on disk. @returns the number of records */
  async finish(): Promise<number> {
    await this.line({ records: this.records });
    await this.file.sync();
    await this.file.close();
    await rename(unfinished(this.path), this.path);
    return this.records;
  }

  async abandon(): Promise<void> {
    await this.file.close().catch(() => undefined);
  }

  private async line(value: object): Promise<void> {
    await this.file.appendFile(`${JSON.stringify(value)}\n`);
  }
}

/**
 * Reads a file that StateFileWriter has finished.
 * @throws {CliError} when it is another file, of another version, or not whole; records before that were returned already
 */
export async function* readStateFile(path: string): AsyncGenerator<StateRecord> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
  let isHead = true;
  let records = 0;
  let end: number | null = null;
  for await (const line of lines) {
    if (isHead) assertHead(path, line);
    else if (end !== null) throw new CliError(`${path} goes on after its last line.`);
    else {
      const record = recordLine.safeParse(parsed(line));
      if (record.success) {
        const { topic, key, timestamp, value } = record.data;
        records += 1;
        yield { topic, key, timestamp, value: value === null ? null : Buffer.from(value, 'base64') };
      } else end = endLine.safeParse(parsed(line)).data?.records ?? notWhole(path);
    }
    isHead = false;
  }
  if (end !== records) notWhole(path);
}

/** Reads a state file to its end, so that nothing is written before all of it is known to be good. */
export async function countStateRecords(path: string): Promise<number> {
  let count = 0;
  for await (const { topic } of readStateFile(path)) {
    if (!MOVED_TOPICS.some(({ name }) => name === topic)) throw new CliError(`${path} has records of ${topic}.`);
    count += 1;
  }
  return count;
}

function assertHead(path: string, line: string): void {
  const head = headLine.safeParse(parsed(line));
  if (!head.success) throw new CliError(`${path} is no file of "state export".`);
  for (const [topic, digest] of Object.entries(schemaDigests())) {
    if (head.data.schemas[topic] === digest) continue;
    throw new CliError(
      `${path} was exported by a version with another schema of ${topic}: import it with that version, and upgrade afterwards.`,
    );
  }
}

function notWhole(path: string): never {
  throw new CliError(`${path} is not whole: export again.`);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function schemaDigests(): Record<string, string> {
  return Object.fromEntries(MOVED_TOPICS.map((topic) => [topic.name, digestOf(topic)]));
}

function digestOf({ schema }: TopicDefinition): string {
  return createHash('sha256').update(JSON.stringify(schema)).digest('hex');
}

function unfinished(path: string): string {
  return `${path}.unfinished`;
}
