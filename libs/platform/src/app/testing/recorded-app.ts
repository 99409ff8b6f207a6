import { Controller, Injectable } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { PartitionTask, RecordBatch, TaskManager } from '@waypost/streams';
import type { AppConfig } from '../../runtime/runtime.module.js';
import { PartitionConsumer } from '../../streams/decorators.js';
import { PartitionContext } from '../../streams/handler-context.js';
import { StreamsRuntime } from '../../streams/streams-runtime.js';
import type { ProcessHost } from '../process-host.js';

export const silentProcess: AppConfig['process'] = {
  adminHost: '127.0.0.1',
  adminPort: 0,
  logLevel: 'silent',
  instanceId: undefined,
  supervised: false,
};

/** Records the start and stop of its consumers among the events. */
export class RecordedRuntime extends StreamsRuntime {
  /** What the consumer does before its start and stop are recorded. */
  consumer: Partial<TaskManager> = {};
  reportFatal: (error: Error) => void = () => undefined;

  constructor(private readonly events: string[]) {
    super();
  }

  partitionManager({ onFatal }: { readonly onFatal: (error: Error) => void }): TaskManager {
    this.reportFatal = onFatal;
    return {
      start: async () => {
        await this.consumer.start?.();
        this.events.push('consumer started');
      },
      stop: async () => {
        await this.consumer.stop?.();
        this.events.push('consumer stopped');
      },
      ready: () => true,
      tasks: () => [],
      command: () => undefined,
    };
  }

  streamManager(): never {
    throw new Error('unused');
  }
}

@Injectable()
export class UnusedTasks {
  create(): PartitionTask {
    throw new Error('unused');
  }
}

@Controller()
export class RecordedConsumer {
  @PartitionConsumer({ group: { id: 'consumer', topics: ['input'] }, tasks: UnusedTasks, stopTimeoutMs: 50 })
  handle(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}

/** A process whose signals, errors and end the test controls. */
export class RecordedHost implements ProcessHost {
  readonly errors: string[] = [];
  /** Resolves to the exit code. */
  readonly exited: Promise<number>;
  exit: (code: number) => void = () => undefined;
  private readonly stopListeners: ((signal: string) => void)[] = [];
  private readonly errorListeners: ((error: unknown) => void)[] = [];
  private parentListener: (() => void) | undefined;

  constructor() {
    this.exited = new Promise((resolve) => (this.exit = resolve));
  }

  get watchesParent(): boolean {
    return this.parentListener !== undefined;
  }

  printError(text: string): void {
    this.errors.push(text);
  }
  onStopSignal(listener: (signal: string) => void): void {
    this.stopListeners.push(listener);
  }
  onUncaught(listener: (error: unknown) => void): void {
    this.errorListeners.push(listener);
  }
  onParentGone(listener: () => void): void {
    this.parentListener = listener;
  }

  signal(name: string): void {
    for (const listener of this.stopListeners) listener(name);
  }
  throwUncaught(error: Error): void {
    for (const listener of this.errorListeners) listener(error);
  }
  loseParent(): void {
    this.parentListener?.();
  }
}
