import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { EMPTY, type Observable, of, retry } from 'rxjs';
import type { RecordBatch, StreamRecord } from '@waypost/streams';
import { MemoryRuntime } from '../testing/memory-runtime.js';
import { PartitionConsumer, StreamTask } from './decorators.js';
import { PartitionContext, StreamContext } from './handler-context.js';
import {
  buildStreamApp,
  double,
  Doubling,
  doubling,
  NEGATIVE,
  records,
  summing,
  SummingTask,
} from './testing/stream-app.js';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

/** Runs batches through one controller: the runtime's results, what was committed, and the sizes of the handler's slices. */
async function run(controller: Type, ...batches: number[][]) {
  calls.length = 0;
  const runtime = new MemoryRuntime();
  const { app } = await buildStreamApp([controller], runtime);
  opened.push(app);
  await app.listen();
  const results: (number | Error)[] = [];
  for (const batch of batches) results.push(await runtime.feed('numbers', records(...batch)));
  return { results, written: runtime.written.map(({ value }) => Number(String(value))), calls: [...calls] };
}

const calls: number[] = [];

function noted(slice: readonly StreamRecord[], context: StreamContext<Doubling>): Promise<void> {
  calls.push(slice.length);
  return double(context);
}

describe('a @StreamTask handler', () => {
  @Controller()
  class Doubler {
    @StreamTask(doubling)
    async double(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
      return noted(slice, context);
    }
  }

  it('is called once per slice, and its outputs are committed with the position', async () => {
    const { results, written, calls } = await run(Doubler, [1, 2, 3], [4]);

    expect(results).toEqual([3, 4]);
    expect(written).toEqual([2, 4, 6, 8]);
    expect(calls).toEqual([3, 1]);
  });

  it('gives the runtime its own error, and leaves nothing of the failed slice behind', async () => {
    const { results, written } = await run(Doubler, [1, -1], [2]);

    expect(results[0]).toBe(NEGATIVE);
    expect(results[1]).toBe(1);
    expect(written).toEqual([4]);
  });

  it('keeps its objects while its task lives', async () => {
    @Controller()
    class Counter {
      @StreamTask(doubling)
      count(@Payload() _slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
        const counter = context.local((task) => ({ seen: 0, task }));
        context.forEach(({ key, value }) => {
          if (Number(String(value)) < 0) throw NEGATIVE;
          counter.task.forward('doubles', { key, value: Buffer.from(String(++counter.seen)) });
        });
        return Promise.resolve();
      }
    }
    const { written } = await run(Counter, [7, 7], [7], [-1], [7]);

    expect(written).toEqual([1, 2, 3, 1]);
  });

  it('cannot add to a call that has ended', async () => {
    let late: () => void = () => undefined;
    @Controller()
    class Late {
      @StreamTask(doubling)
      handle(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
        late = () => context.forward('doubles', { key: null, value: Buffer.from('99') });
        return noted(slice, context);
      }
    }
    const { written } = await run(Late, [1]);

    expect(late).toThrow('The call for numbers has ended');
    expect(written).toEqual([2]);
  });

  it('fails with a sentence when it does not take the context', async () => {
    @Controller()
    class WithoutContext {
      @StreamTask(doubling)
      handle(@Payload() slice: readonly StreamRecord[], context: StreamContext<Doubling>): Promise<void> {
        return noted(slice, context);
      }
    }
    const { results } = await run(WithoutContext, [1]);

    expect(results).toEqual([
      new TypeError('WithoutContext.handle needs a parameter with @Ctx() in addition to the one with @Payload().'),
    ]);
  });
});

describe('exactly once, whatever Nest does with a call', () => {
  @Catch()
  class Swallow implements ExceptionFilter {
    catch(): Observable<never> {
      return EMPTY;
    }
  }
  @Injectable()
  class Skip implements NestInterceptor {
    intercept(): Observable<string> {
      return of('skipped');
    }
  }
  @Injectable()
  class Retry implements NestInterceptor {
    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle().pipe(retry(2));
    }
  }
  @Injectable()
  class Pass implements NestInterceptor {
    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle();
    }
  }
  @Injectable()
  class Refuse implements CanActivate {
    canActivate(): boolean {
      return false;
    }
  }

  @Controller()
  class FilterAbove {
    @UseFilters(Swallow)
    @StreamTask(doubling)
    handle(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
      return noted(slice, context);
    }
  }
  @Controller()
  class FilterBelow {
    @StreamTask(doubling)
    @UseFilters(Swallow)
    handle(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
      return noted(slice, context);
    }
  }
  @Controller()
  @UseFilters(Swallow)
  class FilterOfController {
    @StreamTask(doubling)
    handle(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
      return noted(slice, context);
    }
  }

  it.each([FilterAbove, FilterBelow, FilterOfController])(
    'a filter that swallows errors commits nothing of the failed slice (%p)',
    async (controller) => {
      const { results, written } = await run(controller, [1, -1], [2]);

      expect(results).toEqual([NEGATIVE, 1]);
      expect(written).toEqual([4]);
    },
  );

  it('an interceptor makes the call lazy, and the handler still runs once', async () => {
    @Controller()
    @UseInterceptors(Pass)
    class Passed {
      @StreamTask(doubling)
      handle(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
        return noted(slice, context);
      }
    }
    const { results, written, calls } = await run(Passed, [1], [-1], [2]);

    expect(results).toEqual([1, NEGATIVE, 2]);
    expect(written).toEqual([2, 4]);
    expect(calls).toEqual([1, 1, 1]);
  });

  it('an interceptor that skips the handler fails the slice', async () => {
    @Controller()
    class Skipped {
      @UseInterceptors(Skip)
      @StreamTask(doubling)
      handle(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
        return noted(slice, context);
      }
    }
    const { results, calls } = await run(Skipped, [1]);

    expect(results).toEqual([new Error('The handler of numbers was not run to its end.')]);
    expect(calls).toEqual([]);
  });

  it('an interceptor that tries again does not run the handler twice in one transaction', async () => {
    @Controller()
    class Retried {
      @UseInterceptors(Retry)
      @StreamTask(doubling)
      handle(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
        return noted(slice, context);
      }
    }
    const { results, written, calls } = await run(Retried, [1, -1], [2]);

    expect(results).toEqual([NEGATIVE, 1]);
    expect(written).toEqual([4]);
    expect(calls).toEqual([2, 1]);
  });

  it('a guard that refuses fails the slice', async () => {
    @Controller()
    class Guarded {
      @UseGuards(Refuse)
      @StreamTask(doubling)
      handle(@Payload() slice: readonly StreamRecord[], @Ctx() context: StreamContext<Doubling>): Promise<void> {
        return noted(slice, context);
      }
    }
    const { results, calls } = await run(Guarded, [1]);

    expect(String(results[0])).toContain('Forbidden resource');
    expect(calls).toEqual([]);
  });
});

describe('a @PartitionConsumer handler', () => {
  it('gets the batch and the task of its partition', async () => {
    const sums: number[] = [];
    @Controller()
    class Sums {
      @PartitionConsumer(summing)
      async add(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<SummingTask>): Promise<void> {
        await task.process(batch);
        sums.push(task.sum);
      }
    }
    const runtime = new MemoryRuntime();
    const { app } = await buildStreamApp([Sums], runtime);
    opened.push(app);
    await app.listen();

    expect(await runtime.feed('amounts', records(1, 2))).toBe(2);
    expect(await runtime.feed('amounts', records(3))).toBe(3);
    expect(await runtime.feed('amounts', records(4), 1)).toBe(1);
    expect(sums).toEqual([2, 3, 1]);
  });

  it('has its task rebuilt after it failed', async () => {
    const seen: number[] = [];
    @Controller()
    class Failing {
      @PartitionConsumer(summing)
      async add(@Payload() batch: RecordBatch, @Ctx() { task }: PartitionContext<SummingTask>): Promise<void> {
        await task.process(batch);
        seen.push(task.sum);
        if (seen.length === 1) throw NEGATIVE;
      }
    }
    const runtime = new MemoryRuntime();
    const { app } = await buildStreamApp([Failing], runtime);
    opened.push(app);
    await app.listen();

    expect(await runtime.feed('amounts', records(1, 2))).toBe(NEGATIVE);
    expect(await runtime.feed('amounts', records(1, 2))).toBe(2);
    expect(seen).toEqual([2, 2]);
  });
});
