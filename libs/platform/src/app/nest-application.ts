import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DynamicModule, type INestApplicationContext, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AsyncMicroserviceOptions } from '@nestjs/microservices';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { portError } from '../boot-error.js';
import { type Lifecycle, type LifecyclePart, settleWithin, STOP_DEADLINE_MS } from '../lifecycle/lifecycle.js';
import { createNestLogger } from '../logging/logger.js';
import { type AppConfig, type AppRuntime, RuntimeModule } from '../runtime/runtime.module.js';
import { StreamsServer } from '../streams/streams-server.js';

export interface HttpSettings {
  /** 0 means any free port. */
  readonly port: number;
  /** Default 0.0.0.0. */
  readonly host?: string;
  /** Sets up filters, pipes, middleware and documents before the application is initialized. */
  readonly configure?: (app: NestExpressApplication) => void | Promise<void>;
}

export interface AppDefinition<C extends AppConfig> {
  readonly name: string;
  /** Reads and checks the environment once; a BootError ends the process with one clear message. */
  readonly config: () => C;
  readonly module: Type;
  /**
   * Absent: a microservice on the StreamsServer of the module. Present: an HTTP application; the StreamsServer, if the
   * module has one, listens before HTTP does.
   */
  readonly http?: (runtime: AppRuntime<C>) => HttpSettings;
  /**
   * How long HTTP keeps serving after the signal to stop while readiness already fails, so that load balancers stop
   * sending requests; default 0. Nothing else stops before that.
   */
  readonly drainMs?: (config: C) => number;
}

interface NestApplicationDeps<C extends AppConfig> {
  readonly definition: AppDefinition<C>;
  readonly runtime: AppRuntime<C>;
  readonly lifecycle: Lifecycle;
  /** Ends waits of start hooks. */
  readonly beginStop: () => void;
}

/** The part of the stop deadline that stop hooks may take; the consumers get the rest. */
const STOP_HOOKS_MS = 700;
const START_FAILED_STOP_MS = 7_000;
const START_SETTLES_MS = 1_000;

/**
 * Runs Nest as one part of the process. Nest's own shutdown hooks stay off: signals are handled in one place, and on a
 * signal, Nest would release the consumers' dependencies before it stops the consumers.
 */
export function createNestPart<C extends AppConfig>(deps: NestApplicationDeps<C>): LifecyclePart {
  let app: INestApplicationContext | undefined;
  let server: StreamsServer | undefined;
  let starting: Promise<void> = Promise.resolve();
  let closing: Promise<void> | undefined;

  function created(given: INestApplicationContext): void {
    app = given;
    server = serverOf(given);
    if (closing !== undefined) throw new Error('The application was stopped before it had started.');
  }

  /** Runs once: Nest would call the hooks again on a second close(). */
  function close(budgetMs: number): Promise<void> {
    closing ??= closeInOrder(budgetMs);
    return closing;
  }

  async function closeInOrder(budgetMs: number): Promise<void> {
    deps.beginStop();
    await server?.stopWithin(Math.max(0, budgetMs - STOP_HOOKS_MS));
    // If a stop interrupts the start, the hooks of both would interleave. A start that hangs ends with its wait.
    await settleWithin(() => starting, Math.min(START_SETTLES_MS, budgetMs));
    await app?.close();
  }

  return {
    name: 'nest',
    start: async () => {
      starting = startApplication(deps, created);
      try {
        await starting;
      } catch (error) {
        await settleWithin(() => close(START_FAILED_STOP_MS), START_FAILED_STOP_MS);
        throw error;
      }
    },
    stop: close,
    leftBehind: () => server?.leftBehind ?? [],
    stopTimeoutMs: Number.POSITIVE_INFINITY,
  };
}

async function startApplication<C extends AppConfig>(
  { definition, runtime, lifecycle }: NestApplicationDeps<C>,
  created: (app: INestApplicationContext) => void,
): Promise<void> {
  const options = { logger: createNestLogger(runtime.logger), abortOnError: false } as const;
  const root: DynamicModule = {
    module: RootModule,
    imports: [RuntimeModule.forRoot(runtime), definition.module],
  };
  if (definition.http !== undefined) {
    const app = await NestFactory.create<NestExpressApplication>(root, options);
    created(app);
    const http = definition.http(runtime);
    await initHybrid(app, http);
    lifecycle.add([httpPart(app, http, runtime, definition.drainMs?.(runtime.config) ?? 0)]);
    return;
  }
  const strategy: AsyncMicroserviceOptions = {
    inject: [StreamsServer],
    useFactory: (server: StreamsServer) => ({ strategy: server }),
  };
  const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(root, { ...strategy, ...options });
  created(app);
  await app.listen();
}

@Module({})
class RootModule {}

function serverOf(app: INestApplicationContext): StreamsServer | undefined {
  try {
    return app.get(StreamsServer);
  } catch {
    return undefined;
  }
}

/** Without init() the server would listen before onModuleInit. */
async function initHybrid(app: NestExpressApplication, { configure }: HttpSettings): Promise<void> {
  await configure?.(app);
  const server = serverOf(app);
  if (server !== undefined) app.connectMicroservice({ strategy: server });
  await app.init();
  await app.startAllMicroservices();
}

/** Listens last, when everything that a request needs is there; stops first, and `nest` closes it. */
function httpPart<C extends AppConfig>(
  app: NestExpressApplication,
  { port, host = '0.0.0.0' }: HttpSettings,
  { logger }: AppRuntime<C>,
  drainMs: number,
): LifecyclePart {
  return {
    name: 'http',
    start: async () => {
      try {
        await app.listen(port, host);
      } catch (error) {
        throw portError(error, { host, port, variable: 'WAYPOST_PORT' });
      }
      const address = app.getHttpServer().address() as AddressInfo;
      logger.info('http_listening', { port: address.port, host });
    },
    // Drains only after a signal: with a shorter deadline, the parent is gone.
    stop: (budgetMs) => sleep(Math.min(drainMs, Math.max(0, budgetMs - STOP_DEADLINE_MS))),
    stopTimeoutMs: Number.POSITIVE_INFINITY,
  };
}
