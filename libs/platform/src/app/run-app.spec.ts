import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import type { PartitionTask, RecordBatch, TaskManager } from '@waypost/streams';
import { until } from '../../../../test/support/until.js';
import { BootError } from '../boot-error.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import type { AppConfig, AppRuntime } from '../runtime/runtime.module.js';
import { PartitionConsumer } from '../streams/decorators.js';
import { PartitionContext } from '../streams/handler-context.js';
import { StreamsRuntime } from '../streams/streams-runtime.js';
import { StreamsServer } from '../streams/streams-server.js';
import type { AppDefinition } from './nest-application.js';
import type { ProcessHost } from './process-host.js';
import { EXIT_CODE, runApp } from './run-app.js';

const calls: string[] = [];
const running: Lifecycle[] = [];
// A crash leaves everything to the end of the process, which a test does not have.
afterEach(() => Promise.all(running.splice(0).map((lifecycle) => lifecycle.stop())));

/** What the consumer does beyond recording its start and stop. */
let consumer: Partial<TaskManager> = {};

class RecordedRuntime extends StreamsRuntime {
  partitionManager(): TaskManager {
    return {
      start: async () => {
        await consumer.start?.();
        calls.push('consumer started');
      },
      stop: async () => {
        await consumer.stop?.();
        calls.push('consumer stopped');
      },
      ready: () => true,
    };
  }
  streamManager(): never {
    throw new Error('unused');
  }
}

@Injectable()
class Tasks {
  create(): PartitionTask {
    throw new Error('unused');
  }
}

@Controller()
class Consumer {
  @PartitionConsumer({ group: { id: 'consumer', topics: ['input'] }, tasks: Tasks, stopTimeoutMs: 10 })
  handle(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext): Promise<void> {
    return task.process(batch);
  }
}

@Module({
  providers: [{ provide: StreamsRuntime, useValue: new RecordedRuntime() }, StreamsServer, Tasks],
  controllers: [Consumer],
})
class AppModule {
  onApplicationShutdown(): void {
    calls.push('database closed');
  }
}

function build(definition: Partial<AppDefinition<AppConfig>> = {}, behaviour: Partial<TaskManager> = {}) {
  consumer = behaviour;
  calls.length = 0;
  const errors: string[] = [];
  let runtime: AppRuntime | undefined;
  const signals: ((signal: string) => void)[] = [];
  const uncaught: ((error: unknown) => void)[] = [];
  let parentGone: (() => void) | undefined;
  const exit = new Promise<number>((resolve) => {
    const host: ProcessHost = {
      exit: resolve,
      printError: (text) => void errors.push(text),
      onStopSignal: (listener) => void signals.push(listener),
      onUncaught: (listener) => void uncaught.push(listener),
      onParentGone: (listener) => {
        parentGone = listener;
      },
    };
    const complete: AppDefinition<AppConfig> = {
      name: 'test-app',
      config: () => ({ process: { adminPort: 0, logLevel: 'silent', instanceId: undefined, supervised: false } }),
      module: (given) => {
        runtime = given;
        return AppModule;
      },
      ...definition,
    };
    void runApp(complete, host).then((lifecycle) => {
      if (lifecycle !== undefined) running.push(lifecycle);
      calls.push('started');
    });
  });
  const started = async (): Promise<AppRuntime> => {
    await until(() => calls.includes('started'));
    if (runtime === undefined) throw new Error('the module was never asked for');
    return runtime;
  };
  return {
    exit,
    errors,
    started,
    signal: (name: string) => {
      signals.forEach((listener) => {
        listener(name);
      });
    },
    throwUncaught: (error: Error) => {
      uncaught.forEach((listener) => {
        listener(error);
      });
    },
    loseParent: () => parentGone?.(),
    watchesParent: () => parentGone !== undefined,
  };
}

describe('runApp', () => {
  it('stops the consumers before the providers on a signal, and exits with 0', async () => {
    const app = build();
    await app.started();

    app.signal('SIGTERM');
    app.signal('SIGINT');

    expect(await app.exit).toBe(EXIT_CODE.stopped);
    expect(calls).toEqual(['consumer started', 'started', 'consumer stopped', 'database closed']);
  });

  it('serves HTTP once the consumers have started', async () => {
    const app = build({ http: () => ({ port: 0, host: '127.0.0.1', configure: () => void calls.push('configured') }) });
    await app.started();

    app.signal('SIGTERM');

    expect(await app.exit).toBe(EXIT_CODE.stopped);
    expect(calls.slice(0, 3)).toEqual(['configured', 'consumer started', 'started']);
  });

  it('prints an unusable configuration without a stack and exits with its own code', async () => {
    const app = build({
      config: () => {
        throw new BootError('config_invalid', 'The configuration has one problem:\n  KAFKA_BROKERS is missing');
      },
    });

    expect(await app.exit).toBe(EXIT_CODE.configInvalid);
    expect(app.errors).toEqual([
      'test-app cannot start. The configuration has one problem:\n  KAFKA_BROKERS is missing',
    ]);
  });

  it('undoes the start, prints one sentence and exits with 1 when a consumer cannot start', async () => {
    const start = () => Promise.reject(new BootError('no_topic', 'Topic x does not exist: create it.'));
    const app = build({}, { start });

    expect(await app.exit).toBe(EXIT_CODE.crashed);
    expect(app.errors).toEqual(['test-app cannot start. Topic x does not exist: create it.']);
    expect(calls.slice(0, 2)).toEqual(['consumer stopped', 'database closed']);
  });

  it('says which setting of Kafka is wrong before anything else starts, and exits with 1', async () => {
    // What a TLS port says to a client that speaks plainly.
    const broker = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])));
    });
    await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
    const brokers = [`127.0.0.1:${String((broker.address() as AddressInfo).port)}`];
    const process = { adminPort: 0, logLevel: 'silent', instanceId: undefined, supervised: false } as const;
    const app = build({ config: () => ({ process, kafka: { brokers, clientId: 'test' } }) });

    expect(await app.exit).toBe(EXIT_CODE.crashed);
    expect(app.errors).toEqual([expect.stringMatching(/^test-app cannot start\. .*KAFKA_TLS=true/)]);
    expect(calls).not.toContain('consumer started');
    broker.close();
  });

  it('starts without a word about Kafka when it is away', async () => {
    const process = { adminPort: 0, logLevel: 'silent', instanceId: undefined, supervised: false } as const;
    const app = build({ config: () => ({ process, kafka: { brokers: ['127.0.0.1:1'], clientId: 'test' } }) });
    await app.started();
    expect(calls).toContain('consumer started');
    app.signal('SIGTERM');
    expect(await app.exit).toBe(EXIT_CODE.stopped);
  });

  it('exits with 70 at once when a part reports a fatal error', async () => {
    const app = build();
    const runtime = await app.started();

    runtime.onFatal(new Error('fenced'));

    expect(await app.exit).toBe(EXIT_CODE.runtimeFailed);
    expect(calls).not.toContain('consumer stopped');
  });

  it('exits with 1 on an uncaught error', async () => {
    const app = build();
    await app.started();

    app.throwUncaught(new Error('bug'));

    expect(await app.exit).toBe(EXIT_CODE.crashed);
  });

  it('exits with 1 when a stop leaves something behind', async () => {
    const app = build({}, { stop: () => new Promise(() => undefined) });
    await app.started();

    app.signal('SIGTERM');

    expect(await app.exit).toBe(EXIT_CODE.crashed);
    expect(calls).toContain('database closed');
  });

  it('stops when the process that supervises it goes away, and watches only when supervised', async () => {
    const free = build();
    await free.started();
    expect(free.watchesParent()).toBe(false);
    free.signal('SIGTERM');
    await free.exit;

    const supervised = build({
      config: () => ({ process: { adminPort: 0, logLevel: 'silent', instanceId: undefined, supervised: true } }),
    });
    await supervised.started();
    supervised.loseParent();

    expect(await supervised.exit).toBe(EXIT_CODE.stopped);
    expect(calls).toContain('consumer stopped');
  });
});
