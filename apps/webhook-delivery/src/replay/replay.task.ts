import { consumerGroups, resolveBatch, topics } from '@waypost/contracts';
import { isReplayOver, type WebhookReplay } from '@waypost/domain';
import type { PartitionTask, RecordBatch, StreamRecord, TaskContext } from '@waypost/streams';
import { readToEnd, type TransactionalProducer } from '@waypost/streams/admin';
import type { TimerPort } from '../process/timers.js';
import { Aborted } from '../process/waits.js';
import { KnownProgress } from './known-progress.js';
import { ReplayJob, type ReplayJobContext, type ReplayJobDeps } from './replay-job.js';
import { createReplayLog, createReplayRecords, type ReplayLog, type ReplayRecords } from './replay-log.js';
import { ReplayScheduler } from './replay-scheduler.js';
import { SendingWatch } from './sending-watch.js';

export interface ReplayTaskDeps extends ReplayJobDeps {
  readonly timers: TimerPort;
}

/** The limit per partition: each running replay holds a batch of the log in memory. */
const MAX_RUNNING_REPLAYS = 8;
const TIME_SLICE_MS = 2_000;

interface Opened {
  readonly producer: TransactionalProducer;
  readonly log: ReplayLog;
  readonly watch: SendingWatch;
  readonly scheduler: ReplayScheduler;
  readonly jobContext: ReplayJobContext;
}

interface Unfinished {
  readonly job: ReplayJob;
  /** The offset of the first record of the replay. */
  readonly offset: number;
}

/**
 * Runs the replays of the subscriptions of one partition. Their state is in two compacted topics, which are read
 * completely when the task opens. Replays run in the background; process() only accepts new ones and cancels.
 */
export class ReplayTask implements PartitionTask {
  private readonly stop = new AbortController();
  private readonly records: ReplayRecords;
  private readonly versions = new Map<string, number>();
  private readonly progress = new KnownProgress();
  private readonly unfinished = new Map<string, Unfinished>();
  private opened: Opened | null = null;
  private position = 0;
  private committed = -1;

  constructor(
    private readonly context: TaskContext,
    private readonly deps: ReplayTaskDeps,
  ) {
    this.records = createReplayRecords(deps.codecs, context.partition);
  }

  async open(): Promise<{ position: number }> {
    const { backend, logger } = this.deps;
    const { partition } = this.context;
    const producer = backend.producer(`${consumerGroups.replayer.id}.${String(partition)}`);
    this.opened = this.build(producer);
    await producer.init();
    await this.context.confirmOwnership();
    // The predecessor is fenced now, so what is read next is final.
    const replays = await this.restore();
    for (const [offset, replay] of replays) this.take(offset, replay);
    await this.forgetOrphans();
    logger.info('replays_restored', { partition, known: replays.size, unfinished: this.unfinished.size });
    await this.commitPosition();
    return { position: this.position };
  }

  async process(batch: RecordBatch): Promise<void> {
    await resolveBatch(this.deps.codecs.webhookReplays, batch.records);
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
    this.stop.abort(new Aborted());
  }

  async close(): Promise<void> {
    this.stop.abort(new Aborted());
    if (!this.opened) return;
    const { producer, log, watch, scheduler } = this.opened;
    await scheduler.drained();
    this.leaveUnfinished();
    await log.drained();
    await watch.close();
    await producer.close();
  }

  private build(producer: TransactionalProducer): Opened {
    const onFailure = (error: Error): void => {
      this.stop.abort(new Aborted());
      this.context.fail(error);
    };
    const { partition } = this.context;
    const log = createReplayLog({ producer, onFailure });
    const watch = new SendingWatch({ ...this.deps, partition, onFailure });
    const onOver = (job: ReplayJob): void => {
      this.finish(job);
    };
    const scheduler = new ReplayScheduler({
      maxRunning: MAX_RUNNING_REPLAYS,
      timeSliceMs: TIME_SLICE_MS,
      monotonicMs: this.deps.monotonicMs,
      timers: this.deps.timers,
      onOver,
      onFailure,
    });
    const jobContext: ReplayJobContext = {
      partition,
      log,
      records: this.records,
      watch,
      signal: this.stop.signal,
      replayedFrom: (replay) => this.progress.firstStartOfOthers(replay),
    };
    return { producer, log, watch, scheduler, jobContext };
  }

  /** Reads both topics. @returns the newest version of each replay, by the offset of its record */
  private async restore(): Promise<Map<number, WebhookReplay>> {
    const { backend, codecs } = this.deps;
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
          if (progress) this.progress.set(progress);
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
    const progress = this.progress.get(replayId);
    if (known) {
      known.job.update(replay);
      if (replay.cancelled) this.running().scheduler.cancelled(known.job);
    } else if (!progress || !isReplayOver(progress)) {
      const job = new ReplayJob(this.deps, this.running().jobContext, replay, progress);
      this.unfinished.set(replayId, { job, offset });
      this.deps.metrics.unfinishedChanged(1);
      this.running().scheduler.add(job);
      // It was cancelled while no replayer ran: it may be in the rotation behind one that takes days.
      if (replay.cancelled) this.running().scheduler.cancelled(job);
    }
  }

  /** The record of the replay was deleted. Its progress is deleted too, to keep the topics small. */
  private async forget(replayId: string): Promise<void> {
    const job = this.unfinished.get(replayId)?.job;
    if (job) {
      job.abandon();
      await this.running().scheduler.drop(job);
      this.finish(job);
    }
    this.versions.delete(replayId);
    this.progress.delete(replayId);
    await this.running().log.write([this.records.progressTombstone(replayId)]);
  }

  private async forgetOrphans(): Promise<void> {
    for (const replayId of this.progress.replayIds()) if (!this.versions.has(replayId)) await this.forget(replayId);
  }

  /** Call when nothing is running: a replay that ends before is counted out by itself. */
  private leaveUnfinished(): void {
    for (const { job } of this.unfinished.values()) job.release();
    this.deps.metrics.unfinishedChanged(-this.unfinished.size);
    this.unfinished.clear();
  }

  private finish({ replayId, committed }: ReplayJob): void {
    if (committed) this.progress.set(committed);
    if (this.unfinished.delete(replayId)) this.deps.metrics.unfinishedChanged(-1);
  }

  /** Makes the lag visible to operators: the position passes a replay only when it is over. */
  private async commitPosition(): Promise<void> {
    const offsets = [...this.unfinished.values()].map(({ offset }) => offset);
    const position = Math.min(this.position, ...offsets);
    if (position === this.committed) return;
    await this.context.commitOffset(position);
    this.committed = position;
  }

  private running(): Opened {
    if (!this.opened) throw new Error('The task has not been opened.');
    return this.opened;
  }
}

function replayIdOf({ key }: StreamRecord): string {
  return key?.toString() ?? '';
}
