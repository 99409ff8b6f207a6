import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { waitOrAbort } from '@waypost/streams/admin';
import { until } from '../../../../test/support/until.js';
import { BootError } from '../boot-error.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import { type AppConfig, STOPPING } from '../runtime/runtime.module.js';
import { Quarantine } from '../streams/quarantine.js';
import { StreamsRuntime } from '../streams/streams-runtime.js';
import { StreamsServer } from '../streams/streams-server.js';
import type { AppDefinition } from './nest-application.js';
import { EXIT_CODE, runApp } from './run-app.js';
import { RecordedConsumer, RecordedHost, RecordedRuntime, silentProcess, UnusedTasks } from './testing/recorded-app.js';

const events: string[] = [];
const recorded = new RecordedRuntime(events);
const running: Lifecycle[] = [];
let startTable: (stopping: AbortSignal) => Promise<void>;
beforeEach(() => {
  events.length = 0;
  recorded.consumer = {};
  startTable = () => Promise.resolve();
});

// A crash leaves everything to the end of the process, which a test does not have.
afterEach(() => Promise.all(running.splice(0).map((lifecycle) => lifecycle.stop())));

/** What the handlers need: must be up before the consumers and go after them. */
@Injectable()
class Table implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  constructor(@Inject(STOPPING) private readonly stopping: AbortSignal) {}

  async onModuleInit(): Promise<void> {
    events.push('table up');
    await startTable(this.stopping);
  }
  onApplicationBootstrap(): void {
    events.push('bootstrapped');
  }
  onModuleDestroy(): void {
    events.push('stop announced');
  }
  onApplicationShutdown(): void {
    events.push('table down');
  }
}

@Module({
  providers: [
    { provide: StreamsRuntime, useValue: recorded },
    { provide: Quarantine, useValue: {} },
    StreamsServer,
    UnusedTasks,
    Table,
  ],
  controllers: [RecordedConsumer],
})
class AppModule {}

function run(more: Partial<AppDefinition<AppConfig>> = {}) {
  const host = new RecordedHost();
  const definition = { name: 'test-app', config: () => ({ process: silentProcess }), module: AppModule, ...more };
  const started = runApp(definition, host).then((lifecycle) => {
    if (lifecycle !== undefined) running.push(lifecycle);
  });
  return { exit: host.exited, errors: host.errors, started, stop: () => host.signal('SIGTERM') };
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
function http() {
  return { port: 0, host: '127.0.0.1' };
}

describe('a microservice', () => {
  it('starts its consumers when all providers are up, and stops them before any of these', async () => {
    const app = run();
    await app.started;
    expect(events).toEqual(['table up', 'bootstrapped', 'consumer started']);

    events.length = 0;
    app.stop();

    expect(await app.exit).toBe(EXIT_CODE.stopped);
    expect(events).toEqual(['consumer stopped', 'stop announced', 'table down']);
  });

  it('exits with 1 when a provider cannot start', async () => {
    startTable = () => Promise.reject(new BootError('no_database', 'There is no database.'));
    const app = run();

    expect(await app.exit).toBe(EXIT_CODE.crashed);
    expect(app.errors).toEqual(['test-app cannot start. There is no database.']);
    expect(events).not.toContain('consumer started');
  });

  it('ends the waits of start hooks when it is stopped during its start, and starts no consumer', async () => {
    startTable = async (stopping) => {
      await waitOrAbort(60_000, stopping);
    };
    const app = run();
    await until(() => events.includes('table up'));

    app.stop();

    expect(await app.exit).toBe(EXIT_CODE.stopped);
    expect(events).not.toContain('consumer started');
    expect(events.at(-1)).toBe('table down');
  });

  it('waits for a consumer that is starting before it calls the stop hooks', async () => {
    let finish: () => void = () => undefined;
    recorded.consumer = {
      start: () => {
        events.push('consumer starts');
        return new Promise<void>((resolve) => (finish = resolve));
      },
    };
    const app = run();
    await until(() => events.includes('consumer starts'));

    app.stop();
    await until(() => events.includes('consumer stopped'));
    finish();

    expect(await app.exit).toBe(EXIT_CODE.stopped);
    expect(events.slice(-3)).toEqual(['consumer started', 'stop announced', 'table down']);
  });

  it('does not wait for a start hook that hangs: what it waits for may end with the stop hooks', async () => {
    startTable = never;
    const app = run();
    await until(() => events.includes('table up'));

    app.stop();

    expect(await app.exit).toBe(EXIT_CODE.stopped);
    expect(events.at(-1)).toBe('table down');
  });
});

describe('an HTTP application with consumers', () => {
  it('starts them after its providers and before it listens, and stops them first', async () => {
    const app = run({ http });
    await app.started;
    expect(events).toEqual(['table up', 'bootstrapped', 'consumer started']);

    events.length = 0;
    app.stop();

    expect(await app.exit).toBe(EXIT_CODE.stopped);
    expect(events).toEqual(['consumer stopped', 'stop announced', 'table down']);
  });
});

describe('an HTTP application that receives the signal to stop', () => {
  it('answers on for its time of draining, while readiness is red, and stops only then', async () => {
    let nest: NestExpressApplication | undefined;
    const configure = (app: NestExpressApplication): void => void (nest = app);
    const app = run({ http: () => ({ ...http(), configure }), drainMs: () => 2_000 });
    await app.started;
    const url = String(await nest?.getUrl());
    events.length = 0;

    app.stop();

    expect(running.at(-1)?.ready()).toBe(false);
    for (let request = 0; request < 3; request++) expect((await fetch(url)).status).toBe(404);
    expect(events).toEqual([]);
    expect(await app.exit).toBe(EXIT_CODE.stopped);
    expect(events).toContain('consumer stopped');
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });
});
