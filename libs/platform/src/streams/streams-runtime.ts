import { Inject, Injectable } from '@nestjs/common';
import {
  createStreamsApp,
  createTaskManager,
  type ExceptionHandlers,
  type PartitionTask,
  type StreamsBackend,
  type StreamsLogger,
  type TaskContext,
  type TaskManager,
  type Topology,
} from '@waypost/streams';
import type { ProcessConfig } from '../config/service-config.js';
import { type AppConfig, CLOCK, CONFIG, LOGGER, RANDOM } from '../runtime/runtime.module.js';
import { STREAMS_BACKEND } from './kafka.module.js';

interface ManagerOptions extends ExceptionHandlers {
  /** Called when the member cannot continue. */
  readonly onFatal: (error: Error) => void;
}

export interface PartitionManagerOptions extends ManagerOptions {
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly copartitioned?: readonly string[];
  readonly changelogs?: readonly string[];
  readonly createTask: (context: TaskContext) => PartitionTask;
}

export interface StreamManagerOptions extends ManagerOptions {
  readonly topology: Topology;
}

/** Creates the consumers that call the handlers. A provider; tests replace it by a MemoryRuntime. */
export abstract class StreamsRuntime {
  abstract partitionManager(options: PartitionManagerOptions): TaskManager;
  abstract streamManager(options: StreamManagerOptions): TaskManager;
}

interface MemberConfig extends Pick<AppConfig, 'stateDir' | 'lingerMs'> {
  /** The static member id for all groups; undefined: none. */
  readonly process: Pick<ProcessConfig, 'instanceId'>;
}

/** Runs members of consumer groups on the backend of the process. */
@Injectable()
export class BackendRuntime implements StreamsRuntime {
  constructor(
    @Inject(STREAMS_BACKEND) private readonly backend: StreamsBackend,
    @Inject(CONFIG) private readonly config: MemberConfig,
    @Inject(LOGGER) private readonly logger: StreamsLogger,
    @Inject(CLOCK) private readonly now: () => number,
    @Inject(RANDOM) private readonly random: () => number,
  ) {}

  partitionManager(options: PartitionManagerOptions): TaskManager {
    return createTaskManager({ ...this.shared(), ...options });
  }

  streamManager(options: StreamManagerOptions): TaskManager {
    const { stateDir, lingerMs } = this.config;
    return createStreamsApp({ ...this.shared(), stateDir, lingerMs, ...options });
  }

  private shared() {
    const { backend, logger, now, random } = this;
    return { backend, logger, now, random, instanceId: this.config.process.instanceId };
  }
}
