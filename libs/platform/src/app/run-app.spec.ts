import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import type { TaskManager } from '@waypost/streams';
import { until } from '../../../../test/support/until.js';
import { BootError } from '../boot-error.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import type { AppConfig } from '../runtime/runtime.module.js';
import { Quarantine } from '../streams/quarantine.js';
import { StreamsRuntime } from '../streams/streams-runtime.js';
import { StreamsServer } from '../streams/streams-server.js';
import type { AppDefinition } from './nest-application.js';
import { EXIT_CODE, runApp } from './run-app.js';
import { RecordedConsumer, RecordedHost, RecordedRuntime, silentProcess, UnusedTasks } from './testing/recorded-app.js';

const calls: string[] = [];
const running: Lifecycle[] = [];
// A crash leaves everything to the end of the process, which a test does not have.
afterEach(() => Promise.all(running.splice(0).map((lifecycle) => lifecycle.stop())));

const recorded = new RecordedRuntime(calls);

@Module({
  providers: [
    { provide: StreamsRuntime, useValue: recorded },
    { provide: Quarantine, useValue: {} },
    StreamsServer,
    UnusedTasks,
  ],
  controllers: [RecordedConsumer],
})
class AppModule {
  onApplicationShutdown(): void {
    calls.push('database closed');
  }
}

function build(definition: Partial<AppDefinition<AppConfig>> = {}, behavior: Partial<TaskManager> = {}) {
  recorded.consumer = behavior;
  calls.length = 0;
  const host = new RecordedHost();
  const complete: AppDefinition<AppConfig> = {
    name: 'test-app',
    config: () => ({ process: silentProcess }),
    module: AppModule,
    ...definition,
  };
  void runApp(complete, host).then((lifecycle) => {
    if (lifecycle !== undefined) running.push(lifecycle);
    calls.push('started');
  });
  return { host, started: () => until(() => calls.includes('started')) };
}

describe('runApp', () => {
  it('stops the consumers before the providers on a signal, and exits with 0', async () => {
    const app = build();
    await app.started();

    app.host.signal('SIGTERM');
    app.host.signal('SIGINT');

    expect(await app.host.exited).toBe(EXIT_CODE.stopped);
    expect(calls).toEqual(['consumer started', 'started', 'consumer stopped', 'database closed']);
  });

  it('serves HTTP once the consumers have started', async () => {
    const app = build({ http: () => ({ port: 0, host: '127.0.0.1', configure: () => void calls.push('configured') }) });
    await app.started();

    app.host.signal('SIGTERM');

    expect(await app.host.exited).toBe(EXIT_CODE.stopped);
    expect(calls.slice(0, 3)).toEqual(['configured', 'consumer started', 'started']);
  });

  it('prints an unusable configuration without a stack and exits with its own code', async () => {
    const app = build({
      config: () => {
        throw new BootError('config_invalid', 'The configuration has one problem:\n  KAFKA_BROKERS is missing');
      },
    });

    expect(await app.host.exited).toBe(EXIT_CODE.configInvalid);
    expect(app.host.errors).toEqual([
      'test-app cannot start. The configuration has one problem:\n  KAFKA_BROKERS is missing',
    ]);
  });

  it('undoes the start, prints one sentence and exits with 1 when a consumer cannot start', async () => {
    const start = () => Promise.reject(new BootError('no_topic', 'Topic x does not exist: create it.'));
    const app = build({}, { start });

    expect(await app.host.exited).toBe(EXIT_CODE.crashed);
    expect(app.host.errors).toEqual(['test-app cannot start. Topic x does not exist: create it.']);
    expect(calls.slice(0, 2)).toEqual(['consumer stopped', 'database closed']);
  });

  it('says which setting of Kafka is wrong before anything else starts, and exits with 1', async () => {
    // What a TLS port says to a client that speaks plainly.
    const broker = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])));
    });
    await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
    const brokers = [`127.0.0.1:${String((broker.address() as AddressInfo).port)}`];
    const app = build({ config: () => ({ process: silentProcess, kafka: { brokers, clientId: 'test' } }) });

    expect(await app.host.exited).toBe(EXIT_CODE.crashed);
    expect(app.host.errors).toEqual([expect.stringMatching(/^test-app cannot start\. .*KAFKA_TLS=true/)]);
    expect(calls).not.toContain('consumer started');
    broker.close();
  });

  it('starts without an error when Kafka is unreachable', async () => {
    const app = build({
      config: () => ({ process: silentProcess, kafka: { brokers: ['127.0.0.1:1'], clientId: 'test' } }),
    });
    await app.started();
    expect(calls).toContain('consumer started');
    app.host.signal('SIGTERM');
    expect(await app.host.exited).toBe(EXIT_CODE.stopped);
  });

  it('exits with 70 at once when a part reports a fatal error', async () => {
    const app = build();
    await app.started();

    recorded.reportFatal(new Error('fenced'));

    expect(await app.host.exited).toBe(EXIT_CODE.runtimeFailed);
    expect(calls).not.toContain('consumer stopped');
  });

  it('exits with 1 on an uncaught error', async () => {
    const app = build();
    await app.started();

    app.host.throwUncaught(new Error('bug'));

    expect(await app.host.exited).toBe(EXIT_CODE.crashed);
  });

  it('exits with 1 when a stop leaves something behind', async () => {
    const app = build({}, { stop: () => new Promise(() => undefined) });
    await app.started();

    app.host.signal('SIGTERM');

    expect(await app.host.exited).toBe(EXIT_CODE.crashed);
    expect(calls).toContain('database closed');
  });

  it('stops when the process that supervises it goes away, and watches only when supervised', async () => {
    const free = build();
    await free.started();
    expect(free.host.watchesParent).toBe(false);
    free.host.signal('SIGTERM');
    await free.host.exited;

    const supervised = build({ config: () => ({ process: { ...silentProcess, supervised: true } }) });
    await supervised.started();
    supervised.host.loseParent();

    expect(await supervised.host.exited).toBe(EXIT_CODE.stopped);
    expect(calls).toContain('consumer stopped');
  });
});
