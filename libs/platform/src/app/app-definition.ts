import type { DynamicModule, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
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
}
