import { randomBytes, randomUUID } from 'node:crypto';
import { type DynamicModule, type FactoryProvider, Module, type ValueProvider } from '@nestjs/common';
import { Registry } from 'prom-client';
import type { KafkaSettings, ParkingReason, Stall, TaskCommand, TaskManager, TaskStatus } from '@waypost/streams';
import type { ProcessConfig } from '../config/service-config.js';
import type { PartStatus } from '../lifecycle/lifecycle.js';
import type { Logger } from '../logging/logger.js';

export interface AppConfig {
  readonly process: ProcessConfig;
  /** When present, TLS and login are tried before anything else starts. */
  readonly kafka?: KafkaSettings;
  /** For snapshots of the state stores, so that a restart reads only the changelogs' tails. */
  readonly stateDir?: string | undefined;
  /** How long a partition waits after a small transaction, for others to share the next. */
  readonly lingerMs?: number | undefined;
}

/** What the process gives to its application. Each field is a provider of the RuntimeModule. */
export interface AppRuntime<C extends AppConfig = AppConfig> {
  readonly name: string;
  readonly config: C;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** For a part that cannot go on: one log line, then exit code 70 at once. Nothing is tidied: the log is crash-exact. */
  readonly onFatal: (error: Error) => void;
  readonly readiness: Readiness;
  /** Aborted when the application begins to stop, so that waits in start hooks end. */
  readonly stopping: AbortSignal;
}

/** AppRuntime.name */
export const APP_NAME = Symbol('APP_NAME');
/** AppRuntime.config */
export const CONFIG = Symbol('CONFIG');
/** Logger */
export const LOGGER = Symbol('LOGGER');
/** AppRuntime.onFatal */
export const ON_FATAL = Symbol('ON_FATAL');
/** AppRuntime.stopping, an AbortSignal */
export const STOPPING = Symbol('STOPPING');
/** `() => number`: epoch milliseconds */
export const CLOCK = Symbol('CLOCK');
/** `() => number`: monotonic milliseconds */
export const MONOTONIC_CLOCK = Symbol('MONOTONIC_CLOCK');
/** `(size: number) => Buffer`: cryptographically secure */
export const RANDOM_BYTES = Symbol('RANDOM_BYTES');
/** `() => string`: a random UUID */
export const NEW_ID = Symbol('NEW_ID');

/** Gives every module the runtime of the process. The metrics registry and Readiness are injected by their classes. */
@Module({})
export class RuntimeModule {
  static forRoot({ name, config, logger, metrics, onFatal, readiness, stopping }: AppRuntime): DynamicModule {
    const providers: (ValueProvider | FactoryProvider)[] = [
      { provide: APP_NAME, useValue: name },
      { provide: CONFIG, useValue: config },
      { provide: LOGGER, useValue: logger },
      { provide: Registry, useValue: metrics },
      { provide: ON_FATAL, useValue: onFatal },
      { provide: Readiness, useValue: readiness },
      { provide: STOPPING, useValue: stopping },
      { provide: CLOCK, useValue: Date.now },
      { provide: MONOTONIC_CLOCK, useValue: () => performance.now() },
      { provide: RANDOM_BYTES, useValue: randomBytes },
      { provide: NEW_ID, useValue: randomUUID },
    ];
    return { module: RuntimeModule, global: true, providers, exports: providers };
  }
}

/** One partition of a consumer group, as operators see it. */
export interface TaskView extends TaskStatus {
  /** `<consumer group>:<partition>` */
  readonly task: string;
  /** Offsets behind the last batch that was processed, as the broker told with it; null: none was. */
  readonly lagRecords: number | null;
}

/** The tasks of all consumers in this process, and the commands for those that are parked. */
export class RunningTasks {
  private readonly consumers = new Map<string, Pick<TaskManager, 'tasks' | 'command'>>();
  private readonly lags = new Map<string, number>();

  add(group: string, consumer: Pick<TaskManager, 'tasks' | 'command'>): void {
    this.consumers.set(group, consumer);
  }

  all(): TaskView[] {
    return [...this.consumers].flatMap(([group, consumer]) =>
      consumer.tasks().map((status) => {
        const task = taskName(group, status.partition);
        return { task, ...status, lagRecords: this.lags.get(task) ?? null };
      }),
    );
  }

  noteLag(group: string, partition: number, lagRecords: number): void {
    this.lags.set(taskName(group, partition), lagRecords);
  }

  parked(group?: string): (Pick<TaskView, 'task' | 'topic' | 'partition'> & ParkingReason)[] {
    return this.all().flatMap(({ task, topic, partition, parked }) =>
      parked && (group === undefined || task.startsWith(`${group}:`)) ? [{ task, topic, partition, ...parked }] : [],
    );
  }

  /**
   * @param argument the position of a seek
   * @returns why it is refused; null: it is done; undefined: there is no such task or command here
   */
  command(task: string, name: string, argument?: string): string | null | undefined {
    const found = this.all().find((one) => one.task === task);
    const command = taskCommand(name, argument);
    if (!found || !command) return undefined;
    return this.consumers.get(task.slice(0, task.lastIndexOf(':')))?.command(found, command);
  }
}

function taskName(group: string, partition: number): string {
  return `${group}:${String(partition)}`;
}

function taskCommand(name: string, argument: string | undefined): TaskCommand | undefined {
  if (argument === undefined) return name === 'retry' || name === 'skip' ? name : undefined;
  if (name !== 'seek') return undefined;
  if (argument === 'earliest' || argument === 'latest') return { seek: argument };
  return /^\d{1,15}$/.test(argument) ? { seek: Number(argument) } : undefined;
}

/** What an application must have before it counts as ready. Providers add their checks while they start. */
export class Readiness {
  private readonly checks: { readonly name: string; readonly isReady: () => boolean }[] = [];
  readonly tasks = new RunningTasks();
  /** What does not go on, and since when: another process or a broker holds it, so that a restart would not help. */
  stalls: () => readonly Stall[] = () => [];

  add(name: string, isReady: () => boolean): void {
    this.checks.push({ name, isReady });
  }

  ready(): boolean {
    return this.checks.every(({ isReady }) => isReady());
  }

  status(): PartStatus[] {
    return this.checks.map(({ name, isReady }) => {
      const ready = isReady();
      return { name, state: ready ? 'started' : 'starting', ready };
    });
  }
}
