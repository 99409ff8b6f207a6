import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { KafkaSettings } from '@waypost/streams';
import type { Registry } from 'prom-client';
import type { ProcessConfig } from '../config/process-config.js';
import type { LifecyclePart } from '../lifecycle/lifecycle.js';
import type { Logger } from '../logging/logger.js';

export interface AppConfig {
  readonly process: ProcessConfig;
  /** Given, TLS and login are tried before any part starts. */
  readonly kafka?: KafkaSettings;
}

/** What an application's own parts are built from. */
export interface AppRuntime<C extends AppConfig> {
  readonly name: string;
  readonly config: C;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** For a part that cannot go on: one log line, then exit code 70. The log is crash-exact, so nothing is tidied. */
  readonly onFatal: (error: Error) => void;
}

export interface HttpSettings {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default 0.0.0.0. */
  readonly host?: string;
  /** Filters, pipes, middleware, documents: before the application is initialised. */
  readonly configure?: (app: NestExpressApplication) => void | Promise<void>;
}

export interface AppDefinition<C extends AppConfig> {
  readonly name: string;
  /** Reads and checks the environment once; a BootError ends the process with one clear message. */
  readonly config: () => C;
  readonly module: (runtime: AppRuntime<C>) => Type | DynamicModule;
  /** Absent: a Nest application context without HTTP. */
  readonly http?: (runtime: AppRuntime<C>) => HttpSettings;
  /**
   * In start order. They start when Nest's providers exist and before HTTP listens, and they stop, in reverse, before
   * Nest closes HTTP and the database: a consumer never outlives what it writes to.
   */
  readonly parts?: (nest: INestApplicationContext, runtime: AppRuntime<C>) => readonly LifecyclePart[];
}
