import { consumerGroups, resolveBatch, topics } from '@waypost/contracts';
import { isReplayOver, type ReplayProgress, type WebhookReplay } from '@waypost/domain';
import {
  readToEnd,
  type PartitionTask,
  type RecordBatch,
  type StreamRecord,
  type TaskContext,
  type TransactionalProducer,
} from '@waypost/streams';
import { ReplayJob, type ReplayJobContext, type ReplayJobParts } from './replay-job.js';
import { createReplayLog, type ReplayLog } from './replay-log.js';
import { createReplayRecords, type ReplayRecords } from './replay-records.js';
import { createReplayTurns, type ReplayTurns } from './replay-turns.js';
import { createSendingWatch, type SendingWatch } from './sending-watch.js';

export type ReplayTaskParts = ReplayJobParts;

/** Of one partition, at work at a time: each holds a batch of the log in memory. */
const PLACES = 8;
const TURN_MS = 2_000;

/**
 * The replays of the subscriptions of one partition. Their state is in two compacted topics, which are read whole
 * when the task opens; the work goes on beside process(), which only takes in new replays and cancels.
 */
export const createReplayTask = (parts: ReplayTaskParts, context: TaskContext): PartitionTask =>
  new ReplayTask(parts, context);

/** What the task is made of once it is open. */
interface Opened {
  readonly producer: TransactionalProducer;
  readonly log: ReplayLog;
  readonly watch: SendingWatch;
  readonly turns: ReplayTurns;
  readonly jobContext: ReplayJobContext;
}

interface Unfinished {
  readonly job: ReplayJob;
  /** Of its first record that was read. */
  readonly offset: number;
}

class ReplayTask implements PartitionTask {
  private readonly stop = new AbortController();
  private readonly records: ReplayRecords;
  private readonly versions = new Map<string, number>();
  private readonly progress = new Map<string, ReplayProgress>();
  private readonly unfinished = new Map<string, Unfinished>();
  private opened: Opened | null = null;
  private position = 0;
  private committed = -1;

  constructor(
    private readonly parts: ReplayTaskParts,
    private readonly context: TaskContext,
  ) {
    this.records = createReplayRecords(parts.codecs, context.partition);
  }

  async open(): Promise<{ position: number }> {
    const { backend, logger } = this.parts;
    const { partition } = this.context;
    const producer = backend.producer(`${consumerGroups.replayer.id}.${String(partition)}`);
    this.opened = this.build(producer);
    await producer.init();
    await this.context.confirmOwnership();
    // Only now is it final what the predecessor has written.
    const replays = await this.restore();
    for (const [offset, replay] of replays) this.take(offset, replay);
    await this.forgetOrphans();
    logger.info('replays_restored', { partition, known: replays.size, unfinished: this.unfinished.size });
    await this.commitPosition();
    return { position: this.position };
  }

  async process(batch: RecordBatch): Promise<void> {
    await resolveBatch(this.parts.codecs.webhookReplays, batch.records);
    for (const record of batch.records) {
      const replay = this.records.readReplay(record);
      if (replay) this.take(record.offset, replay);
      else await this.forget(replayIdOf(record));
    }
    this.position = batch.nextOffset;
    await this.commitPosition();
  }

  idle(): Promise<void> {
    return this.commitPosition();
  }

  revoke(): void {
    this.stop.abort();
  }

  async close(): Promise<void> {
    this.stop.abort();
    this.parts.metrics.unfinishedChanged(-this.unfinished.size);
    if (!this.opened) return;
    const { producer, log, watch, turns } = this.opened;
    await turns.drained();
    await log.drained();
    await watch.close();
    await producer.close();
  }

  private build(producer: TransactionalProducer): Opened {
    const onFailure = (error: Error): void => {
      this.stop.abort();
      this.context.fail(error);
    };
    const { partition } = this.context;
    const log = createReplayLog({ producer, onFailure });
    const watch = createSendingWatch({ ...this.parts, partition, onFailure });
    const onOver = (job: ReplayJob): void => {
      this.finish(job);
    };
    const turns = createReplayTurns({ places: PLACES, turnMs: TURN_MS, now: this.parts.now, onOver, onFailure });
    const jobContext = { partition, log, records: this.records, watch, signal: this.stop.signal };
    return { producer, log, watch, turns, jobContext };
  }

  /** Reads both topics. @returns the newest version of each replay, by the offset of its record */
  private async restore(): Promise<Map<number, WebhookReplay>> {
    const { backend, codecs } = this.parts;
    const { partition } = this.context;
    const newest = new Map<string, { offset: number; replay: WebhookReplay }>();
    const fetcher = backend.fetcher();
    try {
      this.position = await readToEnd(backend, fetcher, this.context, 0, async ({ records }) => {
        await resolveBatch(codecs.webhookReplays, records);
        for (const record of records) {
          const replay = this.records.readReplay(record);
          if (replay) newest.set(replay.replayId, { offset: record.offset, replay });
          else newest.delete(replayIdOf(record));
        }
      });
      const log = { topic: topics.replayProgress.name, partition };
      await readToEnd(backend, fetcher, log, 0, async ({ records }) => {
        await resolveBatch(codecs.replayProgress, records);
        for (const record of records) {
          const progress = this.records.readProgress(record);
          if (progress) this.progress.set(progress.replayId, progress);
          else this.progress.delete(replayIdOf(record));
        }
      });
    } finally {
      await fetcher.close();
    }
    return new Map([...newest.values()].map(({ offset, replay }) => [offset, replay]));
  }

  private take(offset: number, replay: WebhookReplay): void {
    const { replayId, version } = replay;
    // The outbox may publish a version again after a crash.
    if ((this.versions.get(replayId) ?? 0) >= version) return;
    this.versions.set(replayId, version);
    const known = this.unfinished.get(replayId);
    const progress = this.progress.get(replayId) ?? null;
    if (known) {
      known.job.update(replay);
      if (replay.cancelled) this.isOpen().turns.cancelled(known.job);
    } else if (!progress || !isReplayOver(progress)) {
      const job = new ReplayJob(this.parts, this.isOpen().jobContext, replay, progress);
      this.unfinished.set(replayId, { job, offset });
      this.parts.metrics.unfinishedChanged(1);
      this.isOpen().turns.add(job);
    }
  }

  /** Nobody can ask for it any more: its progress goes too, so that the topics stay as small as what is remembered. */
  private async forget(replayId: string): Promise<void> {
    const job = this.unfinished.get(replayId)?.job;
    if (job) {
      job.abandon();
      await this.isOpen().turns.drop(job);
      this.finish(job);
    }
    this.versions.delete(replayId);
    this.progress.delete(replayId);
    await this.isOpen().log.write([this.records.noProgress(replayId)]);
  }

  private async forgetOrphans(): Promise<void> {
    for (const replayId of [...this.progress.keys()]) if (!this.versions.has(replayId)) await this.forget(replayId);
  }

  private finish({ replayId, committed }: ReplayJob): void {
    if (committed) this.progress.set(replayId, committed);
    if (this.unfinished.delete(replayId)) this.parts.metrics.unfinishedChanged(-1);
  }

  /** For those who look at the lag: a position that passes a replay only when that is over. */
  private async commitPosition(): Promise<void> {
    const offsets = [...this.unfinished.values()].map(({ offset }) => offset);
    const position = Math.min(this.position, ...offsets);
    if (position === this.committed) return;
    await this.context.commitOffset(position);
    this.committed = position;
  }

  private isOpen(): Opened {
    if (!this.opened) throw new Error('The task has not been opened.');
    return this.opened;
  }
}

const replayIdOf = ({ key }: StreamRecord): string => key?.toString() ?? '';
