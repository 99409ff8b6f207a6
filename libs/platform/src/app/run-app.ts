import { ContractsError } from '@waypost/contracts';
import { createAdminServer, createMetrics } from '../admin/admin-server.js';
import { BootError } from '../boot-error.js';
import { createLifecycle, type Lifecycle, type LifecyclePart, STOP_DEADLINE_MS } from '../lifecycle/lifecycle.js';
import { createLogger, type Logger } from '../logging/logger.js';
import { Readiness } from '../runtime/readiness.js';
import type { AppConfig, AppRuntime } from '../runtime/runtime.module.js';
import { kafkaAccessPart } from './kafka-access.js';
import { type AppDefinition, createNestPart } from './nest-application.js';
import { createProcessHost, type ProcessHost } from './process-host.js';

/** Exit codes of every application. */
export const EXIT_CODE = {
  /** Stopped as asked. */
  stopped: 0,
  /** An uncaught error, a failed start, or a stop that had to leave something behind. */
  crashed: 1,
  /** A part reported through `onFatal` that it cannot continue; a restart is the remedy. */
  runtimeFailed: 70,
  /** The configuration is unusable; a restart will not help. */
  configInvalid: 78,
} as const;

/** A short deadline: when the parent is gone, brokers and databases often are too. */
const ORPHAN_STOP_DEADLINE_MS = 2_500;

/**
 * Runs an application for the life of its process: configuration, logger, admin server, Nest, its parts in order; then
 * SIGTERM or SIGINT stop everything in reverse and exit with 0. Resolves when the start is over, with the
 * application's parts; undefined if there was no usable configuration.
 */
export async function runApp<C extends AppConfig>(
  definition: AppDefinition<C>,
  host: ProcessHost = createProcessHost(),
): Promise<Lifecycle | undefined> {
  const config = readConfig(definition, host);
  if (config === undefined) return undefined;

  const logger = createLogger({ app: definition.name, level: config.process.logLevel });
  const lifecycle = createLifecycle({ logger, monotonicMs: () => performance.now() });
  const ending = createEnding({ lifecycle, logger, host });
  endWith(host, ending, { supervised: config.process.supervised, drainMs: definition.drainMs?.(config) ?? 0 });
  const stopping = new AbortController();
  const runtime: AppRuntime<C> = {
    name: definition.name,
    config,
    logger,
    metrics: createMetrics(definition.name),
    onFatal: (error) => ending.fail(error),
    readiness: new Readiness(),
    stopping: stopping.signal,
  };
  const beginStop = (): void => stopping.abort();

  const access = config.kafka === undefined ? [] : [kafkaAccessPart(config.kafka)];
  const nest = createNestPart({ definition, runtime, lifecycle, beginStop });
  lifecycle.add([adminPart(runtime, lifecycle), ...access, nest]);
  try {
    const result = await lifecycle.start();
    if (result.type === 'started') logger.info('app_started');
  } catch (error) {
    reportStartFailure(definition.name, error, { logger, host });
  }
  return lifecycle;
}

function readConfig<C extends AppConfig>(definition: AppDefinition<C>, host: ProcessHost): C | undefined {
  try {
    return definition.config();
  } catch (error) {
    if (!(error instanceof BootError)) throw error;
    host.printError(`${definition.name} cannot start. ${error.message}`);
    host.exit(EXIT_CODE.configInvalid);
    return undefined;
  }
}

interface EndOptions {
  readonly supervised: boolean;
  readonly drainMs: number;
}

function endWith(
  host: ProcessHost,
  ending: ReturnType<typeof createEnding>,
  { supervised, drainMs }: EndOptions,
): void {
  host.onStopSignal((signal) => void ending.stop(signal, drainMs + STOP_DEADLINE_MS));
  host.onUncaught((error) => ending.crash(error));
  if (supervised) host.onParentGone(() => void ending.stop('parent_gone', ORPHAN_STOP_DEADLINE_MS));
}

function reportStartFailure(
  name: string,
  error: unknown,
  { logger, host }: { logger: Logger; host: ProcessHost },
): void {
  // Both errors say what to do.
  if (error instanceof BootError || error instanceof ContractsError) {
    host.printError(`${name} cannot start. ${error.message}`);
    logger.error('app_start_failed', { code: error.code, reason: error.message });
  } else {
    logger.fatal('app_start_failed', { error });
  }
  host.exit(EXIT_CODE.crashed);
}

interface EndingDeps {
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
  readonly host: ProcessHost;
}

/** The ways to exit. The first one wins, except that an uncaught error also cuts a stop short. */
function createEnding({ lifecycle, logger, host }: EndingDeps) {
  let state: 'running' | 'stopping' | 'ended' = 'running';

  function end(code: number): void {
    state = 'ended';
    host.exit(code);
  }

  return {
    async stop(reason: string, deadlineMs: number): Promise<void> {
      // Ctrl-C reaches a whole process group, so a supervisor's SIGTERM often comes second: not a demand to hurry.
      if (state !== 'running') return;
      state = 'stopping';
      logger.info('app_stopping', { reason });
      const result = await lifecycle.stop(deadlineMs);
      logger.info('app_stopped', { reason, ...(result.type === 'unclean' ? { leftBehind: result.parts } : {}) });
      end(result.type === 'clean' ? EXIT_CODE.stopped : EXIT_CODE.crashed);
    },
    fail(error: Error): void {
      if (state === 'stopping') logger.warn('part_failed_while_stopping', { error });
      if (state !== 'running') return;
      logger.fatal('app_failed', { error });
      end(EXIT_CODE.runtimeFailed);
    },
    crash(error: unknown): void {
      if (state === 'ended') return;
      try {
        logger.fatal('uncaught_error', { error });
      } finally {
        // Exits even if standard output is gone together with the parent.
        end(EXIT_CODE.crashed);
      }
    },
  };
}

function adminPart<C extends AppConfig>(
  { config, metrics, logger, readiness: checks }: AppRuntime<C>,
  lifecycle: Lifecycle,
): LifecyclePart {
  const readiness = () => ({
    ready: lifecycle.ready() && checks.ready(),
    parts: [...lifecycle.status(), ...checks.status()],
  });
  const { adminHost: host, adminPort: port } = config.process;
  const server = createAdminServer({
    host,
    port,
    metrics,
    readiness,
    tasks: checks.tasks,
    stalls: () => checks.stalls(),
  });
  return {
    name: 'admin server',
    start: async () => {
      logger.info('admin_listening', { port: await server.start() });
    },
    stop: () => server.stop(),
  };
}
