import type { DynamicModule, INestApplicationContext, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { LifecyclePart } from '../lifecycle/lifecycle.js';
import type { AppConfig, AppRuntime } from '../runtime/runtime.module.js';

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
  /**
   * Absent: a microservice on the StreamsServer of the module. Present: an HTTP application; the StreamsServer, if the
   * module has one, listens before HTTP does.
   */
  readonly http?: (runtime: AppRuntime<C>) => HttpSettings;
  /**
   * For applications without a StreamsServer. In start order. They start when Nest's providers exist and before HTTP listens, and they stop, in reverse, before
   * Nest closes HTTP and the database: a consumer never outlives what it writes to.
   */
  readonly parts?: (nest: INestApplicationContext, runtime: AppRuntime<C>) => readonly LifecyclePart[];
}
