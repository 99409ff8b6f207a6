import {
  type CommittedOffset,
  type OutgoingRecord,
  type PartitionTask,
  type RecordBatch,
  sourcesOf,
  StreamRecord,
  type TaskManager,
} from '@waypost/streams';
import { createTopologyTestDriver, type PipedRecord, type TopologyTestDriver } from '@waypost/streams/testing';
import { type PartitionManagerOptions, type StreamManagerOptions, StreamsRuntime } from '../streams/streams-runtime.js';

/** A consumer of which the test makes each fetch. */
abstract class MemoryConsumer implements TaskManager {
  constructor(
    readonly groupId: string,
    readonly topics: readonly string[],
    protected readonly events: string[],
  ) {}

  abstract feed(topic: string, partition: number, records: readonly PipedRecord[]): Promise<number>;

  start(): Promise<void> {
    this.events.push(`${this.groupId} started`);
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.events.push(`${this.groupId} stopped`);
    return Promise.resolve();
  }

  ready(): boolean {
    return true;
  }

  tasks(): readonly [] {
    return [];
  }

  command(): undefined {
    return undefined;
  }
}

/**
 * Runs handlers without a broker: what a test feeds is one fetched batch. A handler that fails has its task made
 * again, as of the last commit, as the runtime would do.
 */
export class MemoryRuntime extends StreamsRuntime {
  /** What was committed to sinks and changelogs of stream tasks. */
  readonly written: OutgoingRecord[] = [];
  /** Group ids, as their consumers started and stopped. */
  readonly events: string[] = [];
  private readonly consumers: MemoryConsumer[] = [];

  partitionManager(options: PartitionManagerOptions): TaskManager {
    return this.register(new MemoryPartitionConsumer(options, this.events));
  }

  streamManager(options: StreamManagerOptions): TaskManager {
    return this.register(new MemoryStreamConsumer(options, this.events, this.written));
  }

  /**
   * Gives the consumer of a topic one batch.
   * @returns the position after it, or the error that the runtime got
   */
  async feed(topic: string, records: readonly PipedRecord[], partition = 0): Promise<number | Error> {
    const consumer = this.consumers.find(({ topics }) => topics.includes(topic));
    if (consumer === undefined) throw new Error(`No consumer reads ${topic}.`);
    try {
      return await consumer.feed(topic, partition, records);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  private register<C extends MemoryConsumer>(consumer: C): C {
    this.consumers.push(consumer);
    return consumer;
  }
}

class MemoryPartitionConsumer extends MemoryConsumer {
  private readonly running = new Map<number, { readonly task: PartitionTask; position: number }>();
  private readonly committed = new Map<number, CommittedOffset>();

  constructor(
    private readonly options: PartitionManagerOptions,
    events: string[],
  ) {
    super(options.groupId, options.topics, events);
  }

  override async stop(): Promise<void> {
    for (const { task } of this.running.values()) {
      task.revoke?.();
      await task.suspend?.();
      await task.close();
    }
    this.running.clear();
    await super.stop();
  }

  async feed(topic: string, partition: number, records: readonly PipedRecord[]): Promise<number> {
    const running = this.running.get(partition) ?? (await this.open(topic, partition));
    const batch = batchOf({ topic, partition, records, from: running.position });
    try {
      await running.task.process(batch);
      running.position = batch.nextOffset;
      return running.position;
    } catch (error) {
      this.running.delete(partition);
      await running.task.close();
      throw error;
    }
  }

  private async open(topic: string, partition: number): Promise<{ task: PartitionTask; position: number }> {
    const task = this.options.createTask({
      topic,
      partition,
      leaseValid: () => true,
      leaveOut: () => Promise.resolve(null),
      confirmOwnership: () => Promise.resolve(),
      committedOffset: () => Promise.resolve(this.committed.get(partition) ?? null),
      commitOffset: (offset, metadata = '') => {
        this.committed.set(partition, { offset, metadata });
        return Promise.resolve();
      },
      fail: this.options.onFatal,
    });
    const { position } = await task.open();
    const running = { task, position };
    this.running.set(partition, running);
    return running;
  }
}

interface BatchParts {
  readonly topic: string;
  readonly partition: number;
  readonly records: readonly PipedRecord[];
  readonly from: number;
}

function batchOf({ topic, partition, records, from }: BatchParts): RecordBatch {
  const nextOffset = from + records.length;
  return {
    topic,
    partition,
    nextOffset,
    highWatermark: nextOffset,
    lastStableOffset: nextOffset,
    records: records.map(({ key, value, timestamp = 0 }, index) =>
      StreamRecord.of({ offset: from + index, timestamp, key, value }),
    ),
  };
}

class MemoryStreamConsumer extends MemoryConsumer {
  private readonly drivers = new Map<number, { readonly driver: TopologyTestDriver; position: number }>();

  constructor(
    private readonly options: StreamManagerOptions,
    events: string[],
    private readonly written: OutgoingRecord[],
  ) {
    super(options.topology.applicationId, sourcesOf(options.topology), events);
  }

  async feed(_topic: string, partition: number, records: readonly PipedRecord[]): Promise<number> {
    const running = this.drivers.get(partition) ?? this.open(partition);
    const { driver } = running;
    const before = driver.written().length;
    try {
      await driver.pipeSlice(records);
    } catch (error) {
      driver.rollback();
      throw error;
    }
    driver.commit();
    this.written.push(...driver.written().slice(before));
    running.position += records.length;
    return running.position;
  }

  private open(partition: number): { driver: TopologyTestDriver; position: number } {
    const { topology } = this.options;
    const running = { driver: createTopologyTestDriver({ topology, partition, autoCommit: false }), position: 0 };
    this.drivers.set(partition, running);
    return running;
  }
}
