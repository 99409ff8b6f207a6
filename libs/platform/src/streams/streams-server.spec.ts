import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, type Type } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import type { RecordBatch, StreamRecord, TaskManager } from '@waypost/streams';
import { MemoryRuntime } from '../testing/memory-runtime.js';
import { PartitionConsumer, StreamTask } from './decorators.js';
import { PartitionContext, StreamContext } from './handler-context.js';
import { StreamsRuntime } from './streams-runtime.js';
import {
  buildStreamApp,
  double,
  Doubling,
  doubling,
  NEGATIVE,
  type StreamTestApp,
  SummingTask,
  SummingTasks,
} from './testing/stream-app.js';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

async function build(
  controllers: readonly Type[],
  runtime: StreamsRuntime = new MemoryRuntime(),
  imports: readonly Type[] = [],
): Promise<StreamTestApp> {
  const built = await buildStreamApp(controllers, runtime, imports);
  opened.push(built.app);
  return built;
}

describe('the handlers that the server accepts', () => {
  it('are one for each group: two for the same one do not start', async () => {
    @Controller()
    class Twice {
      @StreamTask(doubling)
      first(@Payload() _slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
        return double(context);
      }
      @StreamTask(doubling)
      second(@Payload() _slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
        return double(context);
      }
    }
    const { app } = await build([Twice]);

    await expect(app.listen()).rejects.toThrow('needs exactly one handler');
  });

  it('are ours: one of another transport does not start', async () => {
    @Controller()
    class Foreign {
      @EventPattern('numbers')
      handle(@Payload() value: number): number {
        return value;
      }
    }
    const { app } = await build([Foreign]);

    await expect(app.listen()).rejects.toThrow('numbers needs exactly one handler');
  });
});

/** Managers that note their starts and stops. */
class RecordedRuntime extends StreamsRuntime {
  readonly events: string[] = [];

  constructor(private readonly more: Readonly<Record<string, Partial<TaskManager>>> = {}) {
    super();
  }

  partitionManager({ groupId }: { readonly groupId: string }): TaskManager {
    return this.manager(groupId);
  }

  streamManager({ topology }: { readonly topology: { readonly applicationId: string } }): TaskManager {
    return this.manager(topology.applicationId);
  }

  private manager(name: string): TaskManager {
    const { start, stop, ready } = this.more[name] ?? {};
    return {
      start: async () => {
        this.events.push(`${name} starts`);
        await start?.();
        this.events.push(`${name} started`);
      },
      stop: async () => {
        this.events.push(`${name} stops`);
        await stop?.();
        this.events.push(`${name} stopped`);
      },
      ready: ready ?? (() => true),
      tasks: () => [],
      command: () => undefined,
    };
  }
}

const first = { group: { id: 'first', topics: ['a'] }, tasks: SummingTasks, stopTimeoutMs: 20 } as const;
const second = { group: { id: 'second', topics: ['a'] }, tasks: SummingTasks } as const;

@Controller()
class First {
  @PartitionConsumer(first)
  handle(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<SummingTask>): Promise<void> {
    return task.process(batch);
  }
}
@Controller()
class Second {
  @PartitionConsumer(second)
  handle(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<SummingTask>): Promise<void> {
    return task.process(batch);
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

describe('the order of the consumers', () => {
  it('is that of their controllers at the start and the reverse at the stop, one after the other', async () => {
    const runtime = new RecordedRuntime();
    const { app } = await build([First, Second], runtime);
    await app.listen();
    expect(runtime.events).toEqual(['first starts', 'first started', 'second starts', 'second started']);

    runtime.events.length = 0;
    await app.close();

    expect(runtime.events).toEqual(['second stops', 'second stopped', 'first stops', 'first stopped']);
  });

  it('leaves a consumer behind that does not stop in time, and stops the others', async () => {
    const runtime = new RecordedRuntime({ first: { stop: never } });
    const { app, server } = await build([First, Second], runtime);
    await app.listen();

    await app.close();

    expect(server.leftBehind).toEqual(['first']);
    expect(runtime.events).toContain('second stopped');
  });

  it('bounds all stops together', async () => {
    const runtime = new RecordedRuntime({ second: { stop: never } });
    const { app, server } = await build([First, Second], runtime);
    await app.listen();

    await server.stopWithin(10);

    expect(server.leftBehind).toEqual(['second']);
    expect(runtime.events).toContain('first stops');
  });

  it('stops each consumer once, however often the server is closed', async () => {
    const runtime = new RecordedRuntime({ first: { stop: () => Promise.reject(new Error('stuck')) } });
    const { app, server } = await build([First], runtime);
    await app.listen();

    await Promise.all([server.close(), server.close()]);
    await app.close();

    expect(runtime.events.filter((event) => event === 'first stops')).toHaveLength(1);
    expect(server.leftBehind).toEqual(['first']);
  });

  it('starts no further consumer when it is closed while one starts', async () => {
    let finish: () => void = () => undefined;
    const runtime = new RecordedRuntime({ first: { start: () => new Promise<void>((resolve) => (finish = resolve)) } });
    const { app, server } = await build([First, Second], runtime);
    const listening = app.listen().catch((error: unknown) => error);
    while (runtime.events.length === 0) await new Promise((resolve) => setImmediate(resolve));

    await server.close();
    finish();

    expect(await listening).toEqual(new Error('The application was stopped before all consumers had started.'));
    expect(runtime.events).not.toContain('second starts');
  });

  it('rejects listen() with the error of a consumer that cannot start, and stops those that did', async () => {
    const broken = new Error('no such topic');
    const runtime = new RecordedRuntime({ second: { start: () => Promise.reject(broken) } });
    const { app } = await build([First, Second], runtime);

    await expect(app.listen()).rejects.toBe(broken);
    await app.close();

    expect(runtime.events).toContain('first stopped');
  });
});

describe('readiness', () => {
  it('waits for all consumers', async () => {
    let caughtUp = false;
    const runtime = new RecordedRuntime({ second: { ready: () => caughtUp } });
    const { app, readiness } = await build([First, Second], runtime);
    await app.listen();
    expect(readiness.ready()).toBe(false);
    expect(readiness.status()).toEqual([
      { name: 'first', state: 'started', ready: true },
      { name: 'second', state: 'starting', ready: false },
    ]);

    caughtUp = true;

    expect(readiness.ready()).toBe(true);
  });

  it('does not wait for a consumer that retries in the background', async () => {
    @Controller()
    class Retrying {
      @PartitionConsumer({ ...second, whenUnavailable: 'retry' })
      handle(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<SummingTask>): Promise<void> {
        return task.process(batch);
      }
    }
    const runtime = new RecordedRuntime({ second: { start: never } });
    const { app, readiness } = await build([Retrying], runtime);

    await app.listen();

    expect(readiness.ready()).toBe(true);
    expect(runtime.events).toEqual(['second starts']);
  });
});

describe('a consumer that fails for good', () => {
  it('is reported to the application and to listeners of Nest', async () => {
    const heard: Error[] = [];
    let report: (error: Error) => void = () => undefined;
    class Reporting extends RecordedRuntime {
      override partitionManager(options: { groupId: string; onFatal: (error: Error) => void }): TaskManager {
        report = options.onFatal;
        return super.partitionManager(options);
      }
    }
    const { app, fatal } = await build([First], new Reporting());
    app.on('fatal', (error: Error) => heard.push(error));
    await app.listen();

    report(NEGATIVE);

    expect(fatal).toEqual([NEGATIVE]);
    expect(heard).toEqual([NEGATIVE]);
  });
});
