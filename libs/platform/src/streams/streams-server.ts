import { EventEmitter } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type CustomTransportStrategy, type MessageHandler, Server } from '@nestjs/microservices';
import { Registry } from 'prom-client';
import {
  type ExceptionHandlers,
  type PartitionTask,
  type RecordBatch,
  slicesOf,
  type StreamRecord,
  type TaskManager,
  type Topology,
} from '@waypost/streams';
import { waitOrAbort } from '@waypost/streams/admin';
import { registerTaskMetrics, type TaskMetrics } from '@waypost/streams/prometheus';
import { settleWithin } from '../lifecycle/lifecycle.js';
import type { Logger } from '../logging/logger.js';
import { Readiness } from '../runtime/readiness.js';
import { CLOCK, LOGGER, MONOTONIC_CLOCK, ON_FATAL } from '../runtime/runtime.module.js';
import {
  type ConsumerDefinition,
  type PartitionConsumerOptions,
  STREAMS_TRANSPORT,
  type StreamTaskOptions,
} from './decorators.js';
import {
  callHandler,
  PartitionContext,
  StreamContext,
  type StreamDefinition,
  type TaskLocals,
} from './handler-context.js';
import { METRICS_PREFIX } from './kafka.module.js';
import { Quarantine } from './quarantine.js';
import { RetryingManager } from './retrying-manager.js';
import { type PartitionManagerOptions, StreamsRuntime } from './streams-runtime.js';

const DEFAULT_STOP_TIMEOUT_MS = 5_000;

interface Consumer {
  readonly name: string;
  readonly manager: TaskManager;
  readonly stopTimeoutMs: number;
  isStarted: boolean;
}

/**
 * Nest's side of the stream runtime. The consumers start one after the other, in the order in which their controllers
 * are registered, and stop in reverse, each within its time. Fetching, transactions and rebuilds stay with the runtime.
 */
@Injectable()
export class StreamsServer
  extends Server<{ fatal: (error: Error) => void }, 'up' | 'down'>
  implements CustomTransportStrategy
{
  override readonly transportId = STREAMS_TRANSPORT;
  /** Otherwise Nest logs errors that the runtime also reports. */
  override readonly propagatesEventHandlerErrors = true;
  /** Consumers whose stop failed or took too long. */
  readonly leftBehind: string[] = [];
  private readonly consumers: Consumer[] = [];
  private readonly metrics: TaskMetrics;
  private readonly events = new EventEmitter();
  private closing: Promise<void> | null = null;

  constructor(
    private readonly runtime: StreamsRuntime,
    private readonly moduleRef: ModuleRef,
    private readonly readiness: Readiness,
    @Inject(Quarantine) private readonly quarantine: Pick<Quarantine, 'put'>,
    registry: Registry,
    @Inject(LOGGER) private readonly log: Logger,
    @Inject(ON_FATAL) private readonly onFatal: (error: Error) => void,
    @Inject(CLOCK) nowMs: () => number,
    @Inject(MONOTONIC_CLOCK) private readonly monotonicMs: () => number,
  ) {
    super();
    this.metrics = registerTaskMetrics({ registry, prefix: METRICS_PREFIX, now: nowMs });
  }

  /** Reports failures through the callback: Nest does not wait for a returned promise. */
  override listen(done: (error?: unknown) => void): void {
    this.startAll().then(() => done(), done);
  }

  /** Never rejects, since Nest would then call no stop hook. Nest calls it twice if the application closes twice. */
  override close(): Promise<void> {
    return this.stopWithin(Number.POSITIVE_INFINITY);
  }

  /** Like close(), but takes at most `budgetMs` for all consumers together. The first call decides. */
  stopWithin(budgetMs: number): Promise<void> {
    this.closing ??= this.stopAll(this.monotonicMs() + budgetMs);
    return this.closing;
  }

  override on(event: 'fatal', listener: (error: Error) => void): void {
    this.events.on(event, listener);
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the signature is Nest's
  override unwrap<T>(): T {
    return this.runtime as T;
  }

  private async startAll(): Promise<void> {
    const consumers = [...this.messageHandlers].map(([route, handler]) => this.consumerOf(route, handler));
    for (const consumer of consumers) {
      if (this.closing !== null) throw new Error('The application was stopped before all consumers had started.');
      this.consumers.push(consumer);
      const startedAt = this.monotonicMs();
      await consumer.manager.start();
      consumer.isStarted = true;
      const durationMs = Math.round(this.monotonicMs() - startedAt);
      this.log.debug('consumer_started', { consumer: consumer.name, durationMs });
    }
    this._status$.next('up');
  }

  private async stopAll(deadlineAt: number): Promise<void> {
    for (const { name, manager, stopTimeoutMs } of this.consumers.toReversed()) {
      const remainingMs = Math.max(0, deadlineAt - this.monotonicMs());
      const stopped = await settleWithin(async () => manager.stop(), Math.min(stopTimeoutMs, remainingMs));
      if (stopped.type === 'done') continue;
      this.leftBehind.push(name);
      this.log.error('consumer_left_behind', {
        consumer: name,
        error: stopped.type === 'failed' ? stopped.error : 'It did not stop in time.',
      });
    }
    this._status$.next('down');
  }

  private consumerOf(route: string, handler: MessageHandler): Consumer {
    const definition = handler.extras?.['consumer'] as ConsumerDefinition | undefined;
    if (definition === undefined || handler.next !== undefined)
      throw new Error(`${route} needs exactly one handler, a @PartitionConsumer or a @StreamTask.`);
    const name = definition.group.id;
    const retries = definition.type === 'partition' && definition.whenUnavailable === 'retry';
    const createManager = (onFatal: (error: Error) => void): TaskManager =>
      definition.type === 'partition'
        ? this.partitionManager(definition, handler, onFatal)
        : this.streamManager(definition, handler, onFatal);
    const manager = retries
      ? new RetryingManager({ groupId: name, createManager, logger: this.log, wait: waitOrAbort })
      : createManager((error) => this.fail(error));
    this.readiness.tasks.add(name, manager);
    this.metrics.add(name, manager);
    const { stopTimeoutMs = DEFAULT_STOP_TIMEOUT_MS } = definition;
    const consumer = { name, manager, stopTimeoutMs, isStarted: false };
    if (!retries) this.readiness.add(name, () => consumer.isStarted && manager.ready());
    return consumer;
  }

  private fail(error: Error): void {
    this.events.emit('fatal', error);
    this.onFatal(error);
  }

  private partitionManager(
    { group, tasks, copartitioned = [], changelogs = [] }: PartitionConsumerOptions,
    handler: MessageHandler,
    onFatal: (error: Error) => void,
  ): TaskManager {
    const factory = this.moduleRef.get(tasks, { strict: false });
    const createTask: PartitionManagerOptions['createTask'] = (context) =>
      this.throughHandler(factory.create(context), handler, group.id);
    return this.runtime.partitionManager({
      groupId: group.id,
      topics: group.topics,
      copartitioned,
      changelogs,
      createTask,
      onFatal,
      ...this.exceptionHandlers(),
    });
  }

  private streamManager(
    { group, topology: token }: StreamTaskOptions,
    handler: MessageHandler,
    onFatal: (error: Error) => void,
  ): TaskManager {
    const definition = this.moduleRef.get(token, { strict: false });
    if (definition.applicationId !== group.id || definition.source !== group.topics[0])
      throw new Error(`The topology of ${group.id} must read ${group.topics[0]} under the name of its group.`);
    const topology = topologyOf(definition, async (records, context) => {
      await callHandler(handler, records, context);
      this.metrics.processed(group.id, records);
    });
    return this.runtime.streamManager({ topology, onFatal, ...this.exceptionHandlers() });
  }

  /** The batches of the task go through the handler. All else stays a direct call: revoke() must be synchronous. */
  private throughHandler(task: PartitionTask, handler: MessageHandler, group: string): PartitionTask {
    return {
      open: () => task.open(),
      process: async (batch) => {
        const oldest = firstRecord(batch);
        await callHandler(handler, batch, new PartitionContext(batch, task));
        this.metrics.processed(group, oldest);
      },
      idle: () => task.idle?.() ?? Promise.resolve(),
      suspend: () => task.suspend?.() ?? Promise.resolve(),
      revoke: () => task.revoke?.(),
      close: () => task.close(),
    };
  }

  /** Faults park their partition; a command may skip a record into the quarantine. */
  private exceptionHandlers(): ExceptionHandlers {
    return {
      deadLetterQueue: (partition, record, { code, message }) =>
        this.quarantine.put(partition, [{ record, reason: 'skipped', detail: `${code}: ${message}` }]),
    };
  }
}

/** Decodes only the first record: a task may read the batch in slices. */
function firstRecord(batch: RecordBatch): readonly StreamRecord[] {
  for (const slice of slicesOf(batch, 1)) return slice;
  return [];
}

/** A topology whose processor calls `handle` once per slice. */
export function topologyOf<T extends StreamDefinition>(
  definition: T,
  handle: (records: readonly StreamRecord[], context: StreamContext<T>) => Promise<void>,
): Topology {
  const { applicationId, source, stores, sinks }: StreamDefinition = definition;
  return {
    applicationId,
    source,
    sinks,
    stores,
    processor: (task) => {
      const locals: TaskLocals = {};
      return { processSlice: (slice) => handle(slice.records, new StreamContext<T>(task, slice, locals)) };
    },
  };
}
