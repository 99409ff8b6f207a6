import { type RejectedOrigin, topicNamed, topics } from '@waypost/contracts';
import type { RejectedTelemetry } from '@waypost/domain';
import type { StreamRecord } from '@waypost/streams';
import type { StackEnvironment } from '../stack/stack-config.js';
import { CliError } from '../terminal/output.js';
import { decodeBatch, type DecodedRecord } from '../topic-reading/decode-batch.js';
import { openLog } from '../topic-reading/open-log.js';
import { originName, originOf } from './record-origin.js';
import { isWanted, rejectedIdOf, type RejectedSelection } from './rejected-selection.js';

export interface RejectedRecord {
  readonly id: string;
  readonly rejectedAt: number;
  readonly telemetry: RejectedTelemetry;
  readonly origin: RejectedOrigin;
  /** The same for all rejections of a record: after a crash of its reader, and of its copies that were published again. */
  readonly originName: string;
}

/** Reads the rejected records of a selection. */
export async function eachRejected(
  stack: StackEnvironment,
  selection: RejectedSelection,
  take: (record: RejectedRecord) => Promise<void>,
): Promise<void> {
  const log = openLog(stack, topics.telemetryRejected.name);
  try {
    await log.read({ from: selection.from, to: selection.to, untilEnd: true }, async (batch) => {
      for (const [index, record] of (await decodeBatch(log.codec, batch)).entries()) {
        const rejected = rejectedRecordOf(record, batch.records[index]);
        if (isWanted(rejected, selection)) await take(rejected);
      }
    });
  } finally {
    await log.close();
  }
}

/** Whether a later record of its key takes the place of a record, as a newer version or as a deletion. */
export function isVersion({ telemetry }: RejectedRecord): boolean {
  return topicNamed(telemetry.sourceTopic)?.cleanup === 'compact';
}

/** Only Waypost writes this topic: a value that is not its schema's is a fault worth stopping for. */
function rejectedRecordOf(record: DecodedRecord, raw?: Pick<StreamRecord, 'headers'>): RejectedRecord {
  const id = rejectedIdOf(record);
  if (record.problem !== undefined) throw new CliError(`Record ${id} of ${record.topic} is ${record.problem}.`);
  const telemetry = record.value as RejectedTelemetry;
  const { sourceTopic, sourcePartition, sourceOffset, sourceTimestamp, sourceKey, sourceValue } = telemetry;
  const origin = originOf({ offset: sourceOffset, timestamp: sourceTimestamp, headers: raw?.headers ?? [] });
  const source = { topic: sourceTopic, partition: sourcePartition };
  const original = { key: sourceKey, value: sourceValue };
  return { id, rejectedAt: record.timestamp, telemetry, origin, originName: originName(source, original, origin) };
}
