import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StreamsBackend, TransactionalProducer } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import type { StreamsLogger } from '../logger.js';
import { partitionName, type RecordBatch } from '../record.js';
import type { Topology } from '../topology/topology.js';
import { readToEnd } from './log-reader.js';
import type { PartitionTask, TaskContext } from './partition-task.js';
import { createTaskCore, type TaskCore } from './task-core.js';

const SLICE_RECORDS = 1_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** Also while traffic flows without output: a restart must not go far back. */
const COMMIT_AT_LEAST_EVERY_MS = 1_000;

export interface StreamTaskOptions {
  readonly topology: Topology;
  readonly context: TaskContext;
  readonly backend: StreamsBackend;
  readonly logger: StreamsLogger;
  readonly now: () => number;
}

/**
 * A topology on one input partition, exactly once: outputs, changelog and input position go into one transaction.
 * open() fences the predecessor before it reads the position and the changelog, so both are final when read.
 */
export const createStreamTask = (options: StreamTaskOptions): PartitionTask => new StreamTask(options);

class StreamTask implements PartitionTask {
  private core: TaskCore | null = null;
  private producer: TransactionalProducer | null = null;
  private position: number | null = null;
  private committed: number | null = null;
  private committedAt = 0;

  constructor(private readonly options: StreamTaskOptions) {}

  async open(): Promise<{ position: number | 'earliest' }> {
    const { topology, context, backend, now } = this.options;
    const { topic, partition } = context;
    this.producer = backend.producer(`${topology.applicationId}.${String(partition)}`);
    await this.producer.init();
    await context.confirmOwnership();
    const committed = await context.committedOffset();
    this.core = createTaskCore({
      topology,
      partition: { topic, partition },
      partitionCounts: await this.sinkPartitions(),
      now,
    });
    await this.restore(this.core);
    this.committed = committed?.offset ?? null;
    this.committedAt = now();
    return { position: committed?.offset ?? 'earliest' };
  }

  /** In slices, so that heartbeats and timers of this process go on and no transaction grows without bound. */
  async process(batch: RecordBatch): Promise<void> {
    const core = this.core;
    if (!core) throw new Error('process() came before open().');
    await core.processor.prepare?.(batch.records);
    for (let from = 0; from < batch.records.length; from += SLICE_RECORDS) {
      const slice = batch.records.slice(from, from + SLICE_RECORDS);
      for (const record of slice) core.process(record);
      const last = slice.at(-1);
      if (from + SLICE_RECORDS >= batch.records.length || !last) break;
      if (core.outputBytes > MAX_OUTPUT_BYTES) await this.commit(core, last.offset + 1);
      await nextTurn();
    }
    this.position = batch.nextOffset;
    const overdue = this.options.now() - this.committedAt > COMMIT_AT_LEAST_EVERY_MS;
    if (core.changed || overdue) await this.commit(core, batch.nextOffset);
  }

  /** A batch that changed nothing waits for company: replaying it would change nothing again. */
  async idle(): Promise<void> {
    if (this.core && this.position !== null && this.position !== this.committed)
      await this.commit(this.core, this.position);
  }

  async close(): Promise<void> {
    await this.producer?.close();
  }

  private async commit(core: TaskCore, position: number): Promise<void> {
    const { topology, context, now } = this.options;
    const { topic, partition } = context;
    const offset = { groupId: topology.applicationId, topic, partition, offset: position };
    await this.producer?.commit({ records: core.pending(), offset });
    core.commit();
    this.committed = position;
    this.committedAt = now();
  }

  private async restore(core: TaskCore): Promise<void> {
    const { topology, context, backend, logger, now } = this.options;
    const startedAt = now();
    for (const [name, { changelogTopic, prepare }] of Object.entries(topology.stores ?? {})) {
      const changelog = { topic: changelogTopic, partition: context.partition };
      const store = core.stores.get(name);
      const fetcher = backend.fetcher();
      try {
        await readToEnd(backend, fetcher, changelog, 0, async ({ records }) => {
          await prepare?.(records);
          for (const { key, value } of records) if (key) store?.restore(key, value);
        });
      } finally {
        await fetcher.close();
      }
      logger.info('store_restored', {
        changelog: partitionName(changelog),
        keys: store?.size ?? 0,
        durationMs: now() - startedAt,
      });
    }
  }

  private async sinkPartitions(): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const { topic, partitioner } of Object.values(this.options.topology.sinks)) {
      if (partitioner !== 'key') continue;
      const count = await this.options.backend.partitionCount(topic);
      if (count === null)
        throw new StreamsError('TOPIC_MISSING', `The topic ${topic} does not exist: run the topic set-up first.`);
      counts.set(topic, count);
    }
    return counts;
  }
}
