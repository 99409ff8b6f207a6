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
  readonly wrapTask: (task: PartitionTask) => PartitionTask;
}

/** Creates the consumers that call the handlers. A provider; tests replace it by a MemoryRuntime. */
export abstract class StreamsRuntime {
  abstract partitionManager(options: PartitionManagerOptions): TaskManager;
  abstract streamManager(options: StreamManagerOptions): TaskManager;
}

export interface BackendRuntimeOptions {
  readonly backend: StreamsBackend;
  /** The static member id for all groups; undefined: none. */
  readonly instanceId: string | undefined;
  readonly stateDir: string | undefined;
  readonly lingerMs?: number | undefined;
  readonly logger: StreamsLogger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** In [0, 1) */
  readonly random: () => number;
}

/** Runs members of consumer groups on a backend. */
export class BackendRuntime extends StreamsRuntime {
  constructor(private readonly options: BackendRuntimeOptions) {
    super();
  }

  partitionManager(options: PartitionManagerOptions): TaskManager {
    return createTaskManager({ ...this.options, ...options });
  }

  streamManager(options: StreamManagerOptions): TaskManager {
    return createStreamsApp({ ...this.options, ...options });
  }
}
