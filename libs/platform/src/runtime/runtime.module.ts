import { randomBytes, randomUUID } from 'node:crypto';
import { type DynamicModule, type FactoryProvider, Module, type ValueProvider } from '@nestjs/common';
import { Registry } from 'prom-client';
import type { KafkaSettings } from '@waypost/streams';
import type { ProcessConfig } from '../config/service-config.js';
import type { Logger } from '../logging/logger.js';
import { Readiness } from './readiness.js';

export interface AppConfig {
  readonly process: ProcessConfig;
  /** If present, TLS and login are tried before anything else starts. */
  readonly kafka?: KafkaSettings;
  /** The directory for checkpoints of the state stores, so that a restart reads only the changelogs' tails. */
  readonly stateDir?: string | undefined;
  /** How long a partition waits after a small transaction so that other records share the next. */
  readonly lingerMs?: number | undefined;
}

/** What the process provides to its application. Each field is a provider of the RuntimeModule. */
export interface AppRuntime<C extends AppConfig = AppConfig> {
  readonly name: string;
  readonly config: C;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** For a module that cannot continue: one log line, then exit code 70 at once, without cleanup: the logs in Kafka tolerate a crash. */
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
/** `() => number`: uniform in [0, 1) */
export const RANDOM = Symbol('RANDOM');
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
      { provide: RANDOM, useValue: Math.random },
      { provide: RANDOM_BYTES, useValue: randomBytes },
      { provide: NEW_ID, useValue: randomUUID },
    ];
    return { module: RuntimeModule, global: true, providers, exports: providers };
  }
}
