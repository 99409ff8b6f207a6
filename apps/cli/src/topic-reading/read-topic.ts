import type { StackEnvironment } from '../stack/stack-config.js';
import { decodeBatch, type DecodedRecord } from './decode-batch.js';
import type { LogRange } from './log-range.js';
import { openLog } from './open-log.js';

const ALL: LogRange = { from: null, to: null, untilEnd: true };

/** Reads a range of a topic, decoded; `take` is called in the order of each partition. */
export async function readTopic(
  stack: StackEnvironment,
  topic: string,
  range: Partial<LogRange>,
  take: (records: readonly DecodedRecord[]) => Promise<void> | void,
): Promise<void> {
  const log = openLog(stack, topic);
  try {
    await log.read({ ...ALL, ...range }, async (batch) => {
      await take(await decodeBatch(log.codec, batch));
    });
  } finally {
    await log.close();
  }
}

/** A version of what a key stands for; null: it is deleted. */
export interface KeyVersion<Value> {
  readonly key: string;
  readonly value: Value | null;
  readonly appendedAt: number;
}

/**
 * Reads all versions that a compacted topic has. One that cannot be decoded leaves the version before it in force, as in the
 * applications.
 *
 * @returns where those are that cannot be decoded, and why
 */
export async function readVersions<Value>(
  stack: StackEnvironment,
  topic: string,
  take: (version: KeyVersion<Value>) => void,
): Promise<readonly string[]> {
  const unreadable: string[] = [];
  await readTopic(stack, topic, {}, (records) => {
    for (const record of records) {
      const { key, value, timestamp: appendedAt } = record;
      if (record.problem === undefined) take({ key: key ?? '', value: value as Value | null, appendedAt });
      else unreadable.push(placeInLog(record));
    }
  });
  return unreadable;
}

/** The position of an unreadable record, and the reason. */
export function placeInLog(record: DecodedRecord): string {
  return `${record.topic}, ${placeOf(record)}`;
}

export function placeOf({ partition, offset, problem }: DecodedRecord): string {
  return `partition ${String(partition)}, offset ${String(offset)}: ${problem ?? 'no value'}`;
}
