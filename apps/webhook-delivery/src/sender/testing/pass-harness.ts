import { createAvroCodecs } from '@waypost/contracts';
import { DELIVERY_UNSTARTED } from '@waypost/domain';
import { type RecordBatch, StreamRecord } from '@waypost/streams';
import type { PartitionFeed } from '@waypost/streams/admin';
import { createMemoryRegistry } from '../../../../../test/support/registry/memory-registry.js';
import { flushed, until } from '../../../../../test/support/until.js';
import { CatchUp } from '../backlogs/catch-up.js';
import { DeliveryMemory } from '../backlogs/delivery-memory.js';
import { PartitionBacklogs } from '../backlogs/partition-backlogs.js';
import type { SubscriptionBacklog } from '../backlogs/subscription-backlog.js';
import { aDelivery } from './sender-samples.js';

/** The subscription of each record, from an offset on. */
interface Stretch {
  readonly from: number;
  readonly of: readonly string[];
}

export interface PassReading {
  /** Where its feed was opened. */
  readonly from: number;
  /** Where the feed is. */
  readonly at: number;
  /** Resolves when the pass has done all that it can do with it. */
  readonly answers: (stretch: Stretch | Error) => Promise<void>;
}

const codecs = createAvroCodecs({ registry: createMemoryRegistry() });
const NOW = { epochMs: 0, monotonicMs: 0 };
/** More than a pass takes between two requests. */
const TURNS = 10;

/** Passes over a log that the test reads to them, batch by batch. */
export class PassHarness {
  readonly readings: PassReading[] = [];
  openFeeds = 0;
  /** Offsets that were taken in, by subscription. */
  readonly taken: Record<string, number[]> = {};
  /** How many subscriptions have caught up. */
  caughtUp = 0;
  readonly failures: Error[] = [];
  /** Offsets of what is not a delivery, and what ends their way into the quarantine. */
  readonly quarantine = new Map<number, () => void>();
  leaveOut: number | null = null;
  logStart = 0;
  atMs = 0;
  readonly backlogs: PartitionBacklogs;
  readonly catchUp: CatchUp;

  constructor({ perSubscription = 4, bytes = Infinity } = {}) {
    this.backlogs = new PartitionBacklogs({
      limits: { perSubscription, slowAfterMs: Infinity },
      memory: new DeliveryMemory(bytes, null),
      start: { offset: 0, foldFrom: 0 },
      begun: { upTo: -1, foldFrom: 0 },
      attemptsEnd: () => 0,
      monotonicMs: () => 0,
      isPaused: () => false,
    });
    this.catchUp = new CatchUp({
      backend: { startOffset: () => Promise.resolve(this.logStart), fetcher: () => this.fetcher() },
      codecs,
      partition: 0,
      backlogs: this.backlogs,
      take: (backlog, record) => this.take(backlog, record),
      onCaughtUp: () => void this.caughtUp++,
      onDeleted: () => undefined,
      onFailure: (error) => this.failures.push(error),
      monotonicMs: () => this.atMs,
      leaveOut: () => Promise.resolve(this.leaveOut),
    });
  }

  park(id: string, from: number): SubscriptionBacklog {
    const backlog = this.backlogs.backlog(id);
    this.backlogs.park(backlog, from);
    return backlog;
  }

  admit(backlog: SubscriptionBacklog, offset: number): void {
    const about = { due: NOW, isHeld: false, begun: null, traceparent: null, tracestate: null, appendedAt: 0 };
    this.backlogs.admit({ backlog, offset, delivery: aDelivery(offset), progress: DELIVERY_UNSTARTED, ...about });
  }

  /** The first delivery in memory ends. */
  finish(backlog: SubscriptionBacklog): void {
    const first = backlog.first();
    if (first) this.backlogs.finish(first);
    this.catchUp.finishedOne(backlog);
  }

  /** Resolves once a feed has been asked for the n-th batch. */
  async reading(n: number): Promise<PassReading> {
    await until(() => this.readings.length >= n);
    const reading = this.readings[n - 1];
    if (reading === undefined) throw new Error('unreachable');
    return reading;
  }

  private take(backlog: SubscriptionBacklog, { offset }: StreamRecord): Promise<void> | null {
    (this.taken[backlog.subscriptionId] ??= []).push(offset);
    if (this.quarantine.has(offset)) return new Promise((resolve) => this.quarantine.set(offset, resolve));
    this.admit(backlog, offset);
    return null;
  }

  private fetcher() {
    const open = (_: unknown, from: number): PartitionFeed => {
      this.openFeeds++;
      const feed = { from, at: from };
      return { next: () => this.next(feed), close: () => void this.openFeeds-- };
    };
    return { open, close: () => Promise.resolve() };
  }

  private next(feed: { readonly from: number; at: number }): Promise<RecordBatch> {
    return new Promise((resolve, reject) => {
      const answers: PassReading['answers'] = async (stretch) => {
        if (stretch instanceof Error) reject(stretch);
        else resolve(batchOf(stretch));
        if (!(stretch instanceof Error)) feed.at = stretch.from + stretch.of.length;
        for (let turns = 0; turns < TURNS; turns += 1) await flushed();
      };
      this.readings.push({ ...feed, answers });
    });
  }
}

function batchOf({ from, of }: Stretch): RecordBatch {
  const records = of.map((id, i) =>
    StreamRecord.of({ offset: from + i, timestamp: 0, key: Buffer.from(id), value: null }),
  );
  const end = from + of.length;
  return { topic: '', partition: 0, records, nextOffset: end, highWatermark: end, lastStableOffset: end };
}
