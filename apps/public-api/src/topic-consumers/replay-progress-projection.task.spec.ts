import { beforeEach, describe, expect, it } from '@jest/globals';
import { type AvroCodecs, createAvroCodecs } from '@waypost/contracts';
import type { ReplayProgress } from '@waypost/domain';
import { type RecordBatch, StreamRecord, type TaskContext } from '@waypost/streams';
import { createMemoryRegistry } from '../../../../test/support/registry/memory-registry.js';
import { ReplayProgressProjectionTask } from './replay-progress-projection.task.js';

let codecs: AvroCodecs;
let calls: string[];

beforeEach(async () => {
  codecs = createAvroCodecs({ registry: createMemoryRegistry() });
  await codecs.replayProgress.prepare();
  calls = [];
});

function progress(replayId: string, sent: number): ReplayProgress {
  return {
    replayId,
    subscriptionId: 's',
    state: 'running',
    attemptsEnd: 1,
    nextDeliveryOffset: 2,
    matched: 3,
    sent,
    startedAt: 4,
    updatedAt: 5,
  };
}

function batchOf(...values: (Buffer | null)[]): RecordBatch {
  return {
    topic: 'progress',
    partition: 1,
    nextOffset: 9,
    highWatermark: 9,
    lastStableOffset: 9,
    records: values.map((value, offset) => StreamRecord.of({ offset, timestamp: 0, key: Buffer.from('k'), value })),
  };
}

function build(committed: number | null = null) {
  const context: TaskContext = {
    topic: 'progress',
    partition: 1,
    leaseValid: () => true,
    leaveOut: () => Promise.resolve(null),
    confirmOwnership: () => Promise.resolve(),
    committedOffset: () => Promise.resolve(committed === null ? null : { offset: committed, metadata: '' }),
    commitOffset: (offset) => Promise.resolve(void calls.push(`commit ${String(offset)}`)),
    fail: () => undefined,
  };
  const note = (event: string): void => void calls.push(event);
  return new ReplayProgressProjectionTask(context, {
    codec: codecs.replayProgress,
    replays: {
      recordProgress: (all) => {
        calls.push(`record ${all.map((one) => `${one.replayId}:${String(one.sent)}`).join(' ')}`);
        return Promise.resolve();
      },
    },
    backend: { startOffset: () => Promise.resolve(2), endOffset: () => Promise.resolve(9) },
    database: { run: (work) => work() },
    logger: { error: note },
  });
}

describe('the progress of replays on its way into the database', () => {
  it('is recorded in the order of the log, and then the position is committed', async () => {
    const values = [progress('a', 1), progress('b', 2), progress('a', 3)].map((one) =>
      codecs.replayProgress.encode(one),
    );
    await build().process(batchOf(...values));
    expect(calls).toEqual(['record a:1 b:2 a:3', 'commit 9']);
  });

  it.each([
    [null, 2, ['commit 2']],
    [1, 2, ['commit 2']],
    [10, 2, ['commit 2']],
    [2, 2, []],
    [9, 9, []],
  ])('continues from the committed position %s of a log from 2 to 9 at %d', async (committed, position, expected) => {
    expect(await build(committed).open()).toEqual({ position });
    expect(calls).toEqual(expected);
  });

  it('skips deleted replays, and skips and logs what cannot be read', async () => {
    await build().process(batchOf(null, Buffer.from('nonsense'), codecs.replayProgress.encode(progress('a', 1))));
    expect(calls).toEqual(['replay_progress_unusable', 'record a:1', 'commit 9']);
  });
});
