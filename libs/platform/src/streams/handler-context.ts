import type { MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import type {
  ForwardedRecord,
  PartitionTask,
  ProcessorContext,
  RecordBatch,
  RecordSlice,
  StoresOf,
  StreamRecord,
  Topology,
} from '@waypost/streams';

/**
 * One call of a handler. The outcome is recorded here, not taken from Nest's result: an exception filter may swallow an
 * error, and an interceptor may skip or repeat the handler. Each of these would commit unprocessed records.
 */
export abstract class HandlerContext {
  private state: 'waiting' | 'running' | 'succeeded' | 'failed' | 'ended' = 'waiting';
  private failure: unknown;

  constructor(
    readonly topic: string,
    readonly partition: number,
  ) {}

  /** Runs the handler, once. The decorators call it in place of the method. */
  async run(method: () => unknown): Promise<void> {
    if (this.state !== 'waiting')
      throw new Error(`The handler of ${this.topic} was called again for the same records.`);
    this.state = 'running';
    try {
      await method();
      this.state = 'succeeded';
    } catch (error) {
      this.state = 'failed';
      this.failure = error;
      throw error;
    }
  }

  /**
   * Ends the call.
   * @param refusal the failure of Nest's call, if any
   * @throws the handler's own error, else the refusal, else that the handler was not run to its end
   */
  settle(refusal: { readonly error: unknown } | null): void {
    const { state } = this;
    this.state = 'ended';
    if (state === 'failed') throw this.failure;
    if (refusal !== null) throw refusal.error;
    if (state !== 'succeeded') throw new Error(`The handler of ${this.topic} was not run to its end.`);
  }

  protected refuseEnded(): void {
    if (this.state === 'ended') throw new Error(`The call for ${this.topic} has ended: nothing can be added to it.`);
  }
}

/** The second argument of a `@PartitionConsumer` method. */
export class PartitionContext<Task extends PartitionTask = PartitionTask> extends HandlerContext {
  constructor(
    batch: RecordBatch,
    /** The task of the partition, created by the task factory, again after each failure. */
    readonly task: Task,
  ) {
    super(batch.topic, batch.partition);
  }
}

/** What a `@StreamTask` reads, keeps and writes: a topology whose processor is the handler. */
export type StreamDefinition = Omit<Topology, 'processor'>;

type StoresOfDefinition<T extends StreamDefinition> = StoresOf<NonNullable<T['stores']>>;
type SinkOf<T extends StreamDefinition> = keyof T['sinks'] & string;

/** For objects that live as long as a task: the same stores and sinks, without a call. */
export type StreamTaskContext<T extends StreamDefinition> = ProcessorContext<StoresOfDefinition<T>, SinkOf<T>>;

/** The objects of one task that outlive a call. */
export interface TaskLocals {
  value?: unknown;
}

/**
 * The second argument of a `@StreamTask` method. Its functions are properties, so that a handler with the context of
 * another definition does not compile.
 */
export class StreamContext<T extends StreamDefinition = StreamDefinition> extends HandlerContext {
  /** Whether this is the first slice of a fetched batch: all records of the batch are in the log by now. */
  readonly isFirstSlice: boolean;

  constructor(
    private readonly task: StreamTaskContext<T>,
    private readonly slice: RecordSlice,
    private readonly locals: TaskLocals,
  ) {
    super(task.topic, task.partition);
    this.isFirstSlice = slice.isFirst;
  }

  /** Processes the records one by one. Call it once. */
  readonly forEach = (process: (record: StreamRecord) => void): void => {
    this.refuseEnded();
    this.slice.forEach(process);
  };

  readonly forward = (sink: SinkOf<T>, record: ForwardedRecord): void => {
    this.refuseEnded();
    this.task.forward(sink, record);
  };

  readonly store = <Name extends keyof StoresOfDefinition<T> & string>(name: Name): StoresOfDefinition<T>[Name] => {
    this.refuseEnded();
    return this.task.store(name);
  };

  /** Creates an object in the first call of a task and keeps it as long as the task: rules with their own buffers. */
  readonly local = <Local>(make: (task: StreamTaskContext<T>) => Local): Local => {
    this.refuseEnded();
    if (!('value' in this.locals)) this.locals.value = make(this.task);
    return this.locals.value as Local;
  };
}

/** Calls a handler through Nest's guards, interceptors, pipes and filters. Rejects unless it has done its work. */
export async function callHandler(handler: MessageHandler, payload: unknown, context: HandlerContext): Promise<void> {
  let refusal: { readonly error: unknown } | null = null;
  try {
    const result: unknown = await handler(payload, context);
    // The handler behind an interceptor has not run yet: the Observable is cold.
    if (isObservable(result)) await lastValueFrom(result, { defaultValue: undefined });
  } catch (error) {
    refusal = { error };
  }
  context.settle(refusal);
}
