import { readRepublishedHeader, topicNamed } from '@waypost/contracts';
import { CLOCKS_AGREE_WITHIN_MS } from '@waypost/domain';
import type { StackEnvironment } from '../stack/stack-config.js';
import { openLog } from '../topic-reading/open-log.js';
import { originName, originOf } from './record-origin.js';
import { eachRejected } from './rejected-records.js';
import { isWanted, type RejectedSelection } from './rejected-selection.js';

/**
 * Finds what must not be sent again: originals with a copy that is not rejected, since it was accepted or its reader has
 * not come to it yet. The topics themselves say so: no other place could know of a copy whose sender has crashed.
 * @returns the names of these originals
 */
export async function sentBefore(stack: StackEnvironment, selection: RejectedSelection): Promise<ReadonlySet<string>> {
  const { fromByTopic, rejectedCopies } = await findRejections(stack, selection);
  const names = new Set<string>();
  for (const [topic, from] of fromByTopic) {
    const log = openLog(stack, topic);
    try {
      await log.read({ from, to: null, untilEnd: true }, (batch) => {
        for (const record of batch.records) {
          const isCopy = readRepublishedHeader(record.headers) !== null;
          if (isCopy && !rejectedCopies.has(placeOf(topic, batch.partition, record.offset)))
            names.add(originName(batch, record, originOf(record)));
        }
        return Promise.resolve();
      });
    } finally {
      await log.close();
    }
  }
  return names;
}

interface Rejections {
  /** Since when copies of selected records may be in their topic, epoch milliseconds. */
  readonly fromByTopic: ReadonlyMap<string, number>;
  /** Also of copies that the selection leaves out, since they may be rejected for another reason than their originals. */
  readonly rejectedCopies: ReadonlySet<string>;
}

async function findRejections(stack: StackEnvironment, selection: RejectedSelection): Promise<Rejections> {
  const fromByTopic = new Map<string, number>();
  const rejectedCopies = new Set<string>();
  const all = { ids: [], topic: null, reason: null, device: null, from: selection.from, to: null };
  await eachRejected(stack, all, (record) => {
    const { sourceTopic, sourcePartition, sourceOffset } = record.telemetry;
    if (record.origin.offset !== sourceOffset) rejectedCopies.add(placeOf(sourceTopic, sourcePartition, sourceOffset));
    if (isWanted(record, selection) && topicNamed(sourceTopic) !== undefined) {
      const from = record.rejectedAt - CLOCKS_AGREE_WITHIN_MS;
      fromByTopic.set(sourceTopic, Math.min(from, fromByTopic.get(sourceTopic) ?? Infinity));
    }
    return Promise.resolve();
  });
  return { fromByTopic, rejectedCopies };
}

function placeOf(topic: string, partition: number, offset: number): string {
  return `${topic}:${String(partition)}:${String(offset)}`;
}
