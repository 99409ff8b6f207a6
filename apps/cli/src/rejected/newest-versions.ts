import type { StackEnvironment } from '../stack/stack-config.js';
import { openLog } from '../topic-reading/open-log.js';
import { originName, originOf } from './record-origin.js';
import type { RejectedRecord } from './rejected-records.js';

export interface SortedVersions {
  readonly newest: readonly RejectedRecord[];
  /** Sent again, they would bring back what is deleted, or take the place of a newer version. */
  readonly superseded: readonly RejectedRecord[];
}

/** Sorts rejected records of compacted topics by whether each is still the last one of its key. */
export async function sortVersions(
  stack: StackEnvironment,
  versions: readonly RejectedRecord[],
): Promise<SortedVersions> {
  const newestOrigins = new Set<string>();
  for (const topic of new Set(versions.map(({ telemetry }) => telemetry.sourceTopic))) {
    const ofTopic = versions.filter(({ telemetry }) => telemetry.sourceTopic === topic);
    for (const origin of await lastOrigins(stack, topic, new Set(ofTopic.map(keyOf)))) newestOrigins.add(origin);
  }
  return {
    newest: versions.filter(({ originName }) => newestOrigins.has(originName)),
    superseded: versions.filter(({ originName }) => !newestOrigins.has(originName)),
  };
}

/** Of these keys, the origins of the last records that the topic has. Of a key that is deleted it may have none. */
async function lastOrigins(stack: StackEnvironment, topic: string, keys: ReadonlySet<string>): Promise<string[]> {
  const last = new Map<string, string>();
  const log = openLog(stack, topic);
  try {
    await log.read({ from: null, to: null, untilEnd: true }, (batch) => {
      for (const record of batch.records) {
        const key = base64(record.key);
        if (keys.has(key)) last.set(key, originName(batch, record, originOf(record)));
      }
      return Promise.resolve();
    });
  } finally {
    await log.close();
  }
  return [...last.values()];
}

function keyOf({ telemetry }: RejectedRecord): string {
  return base64(telemetry.sourceKey);
}

function base64(key: Buffer | null): string {
  return key?.toString('base64') ?? '';
}
