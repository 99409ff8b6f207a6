import { applyDecorators, Catch, type ExceptionFilter, type Type, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import type { PartitionTask, RecordBatch, StreamRecord, TaskContext } from '@waypost/streams';
import { HandlerContext, type PartitionContext, type StreamContext, type StreamDefinition } from './handler-context.js';

/** Keeps handlers of other transports away from ours, and ours from theirs. */
export const STREAMS_TRANSPORT = Symbol('waypost streams');

/** A consumer group and the one topic that it reads. */
export interface ConsumerGroupOptions {
  readonly id: string;
  readonly topics: readonly [string];
}

interface HandlerOptions {
  readonly group: ConsumerGroupOptions;
  /** After this, the process stops without waiting longer, and exits with 1. Default 5,000. */
  readonly stopTimeoutMs?: number;
}

/** Creates the task of one partition, and again after each failure. */
export interface PartitionTaskFactory<Task extends PartitionTask = PartitionTask> {
  create(context: TaskContext): Task;
}

export interface PartitionConsumerOptions<Task extends PartitionTask = PartitionTask> extends HandlerOptions {
  /** The class of a provider. */
  readonly tasks: Type<PartitionTaskFactory<Task>>;
  /** Topics that must have as many partitions as the input, since a task writes the partition of its own number. */
  readonly copartitioned?: readonly string[];
  /** Topics with the state of the tasks: the start is refused if their settings would lose it. */
  readonly changelogs?: readonly string[];
  /**
   * `fail` (the default): the start waits for the group, and a member that cannot continue ends the process. `retry`:
   * the start returns at once and a failed member is replaced after growing delays; readiness does not wait for it.
   */
  readonly whenUnavailable?: 'fail' | 'retry';
}

export interface StreamTaskOptions<T extends StreamDefinition = StreamDefinition> extends HandlerOptions {
  /** The class of a provider. */
  readonly topology: Type<T>;
}

/** What Nest's `extras` carry from the decorator to the server. */
export type ConsumerDefinition =
  | ({ readonly type: 'partition' } & PartitionConsumerOptions)
  | ({ readonly type: 'stream' } & StreamTaskOptions);

type HandlerDecorator<Handler> = <H extends Handler>(
  target: object,
  key: string,
  descriptor: TypedPropertyDescriptor<H>,
) => void;

/**
 * The method gets each fetched batch of the group's topic, between open() and close() of the partition's task, which a
 * provider creates: `send(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<SenderTask>)`. A rejection
 * closes the task and recreates it.
 */
export function PartitionConsumer<Task extends PartitionTask>(
  options: PartitionConsumerOptions<Task>,
): HandlerDecorator<(batch: RecordBatch, context: PartitionContext<Task>) => Promise<void>> {
  return handlerOf({ type: 'partition', ...options });
}

/**
 * The method gets up to 1,000 records at a time. Only those that `forEach` gives it are processed, each exactly once; the
 * others are in the next call again. Outputs, store changes and the position are committed in one transaction, or not at
 * all. `decide(@Payload() slice: readonly StreamRecord[], @Ctx() context:
 * StreamContext<PingsTopology>)`.
 */
export function StreamTask<T extends StreamDefinition>(
  options: StreamTaskOptions<T>,
): HandlerDecorator<(slice: readonly StreamRecord[], context: StreamContext<T>) => Promise<void>> {
  return handlerOf({ type: 'stream', ...options });
}

function handlerOf(consumer: ConsumerDefinition) {
  const { id, topics } = consumer.group;
  return <H>(target: object, key: string, descriptor: TypedPropertyDescriptor<H>): void => {
    runThroughContext(`${target.constructor.name}.${key}`, descriptor);
    applyDecorators(
      EventPattern({ group: id, topic: topics[0] }, STREAMS_TRANSPORT, { consumer }),
      UseFilters(new RethrowFilter()),
    )(target, key, descriptor);
  };
}

type AnyMethod = (...args: unknown[]) => unknown;

/** Replaces the method by one that records its outcome in the context, and keeps the metadata of other decorators. */
function runThroughContext(name: string, descriptor: PropertyDescriptor): void {
  const method = descriptor.value as AnyMethod;
  function throughContext(this: unknown, ...args: unknown[]): Promise<void> {
    const context = args.find((argument) => argument instanceof HandlerContext);
    if (context === undefined)
      throw new TypeError(`${name} needs a parameter with @Ctx() in addition to the one with @Payload().`);
    return context.run(() => method.apply(this, args));
  }
  for (const key of Reflect.getOwnMetadataKeys(method) as unknown[])
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, method), throughContext);
  descriptor.value = throughContext;
}

/** Nest's own filter replaces errors by "Internal server error"; the runtime must see the original. */
@Catch()
class RethrowFilter implements ExceptionFilter {
  catch(error: unknown): never {
    throw error;
  }
}
