import { type DynamicModule, Injectable, type Type } from '@nestjs/common';
import type { AsyncMicroserviceOptions } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { Registry } from 'prom-client';
import type { PartitionTask, RecordBatch } from '@waypost/streams';
import type { PipedRecord } from '@waypost/streams/testing';
import { createLogger } from '../../logging/logger.js';
import { Readiness } from '../../runtime/readiness.js';
import { RuntimeModule } from '../../runtime/runtime.module.js';
import type { StreamContext, StreamDefinition } from '../handler-context.js';
import { Quarantine } from '../quarantine.js';
import { StreamsModule } from '../streams.module.js';
import { StreamsRuntime } from '../streams-runtime.js';
import { StreamsServer } from '../streams-server.js';

export class Doubling implements StreamDefinition {
  readonly applicationId = 'doubling';
  readonly source = 'numbers';
  readonly sinks = { doubles: { topic: 'doubles', partitioner: 'source-partition' } } as const;
}
export const doubling = { group: { id: 'doubling', topics: ['numbers'] }, topology: Doubling } as const;

export const NEGATIVE = new RangeError('negative');

/** The handler of most tests: fails at a negative number, after it has forwarded those before it. */
export function double(context: StreamContext<Doubling>): Promise<void> {
  context.forEach(({ key, value }) => {
    const number = Number(String(value));
    if (number < 0) throw NEGATIVE;
    context.forward('doubles', { key, value: Buffer.from(String(2 * number)) });
  });
  return Promise.resolve();
}

export class SummingTask implements PartitionTask {
  sum = 0;
  open = () => Promise.resolve({ position: 0 });
  process = (batch: RecordBatch): Promise<void> => {
    this.sum += batch.records.length;
    return Promise.resolve();
  };
  close = () => Promise.resolve();
}

@Injectable()
export class SummingTasks {
  create(): SummingTask {
    return new SummingTask();
  }
}
export const summing = { group: { id: 'summing', topics: ['amounts'] }, tasks: SummingTasks } as const;

export interface StreamTestApp {
  readonly app: Awaited<ReturnType<typeof createApp>>;
  readonly readiness: Readiness;
  readonly server: StreamsServer;
  /** What was reported through ON_FATAL. */
  readonly fatal: readonly Error[];
}

/** Controllers on a runtime of the test; not listening yet. */
export async function buildStreamApp(
  controllers: readonly Type[],
  runtime: StreamsRuntime,
  imports: readonly Type[] = [],
): Promise<StreamTestApp> {
  const readiness = new Readiness();
  const fatal: Error[] = [];
  const app = await createApp([runtimeOf(readiness, fatal), ...imports], controllers, runtime);
  return { app, readiness, fatal, server: app.get(StreamsServer) };
}

async function createApp(imports: (DynamicModule | Type)[], controllers: readonly Type[], runtime: StreamsRuntime) {
  const module = Test.createTestingModule({
    imports: [...imports, StreamsModule],
    controllers: [...controllers],
    providers: [Doubling, SummingTasks],
  });
  const compiled = await module
    .overrideProvider(StreamsRuntime)
    .useValue(runtime)
    .overrideProvider(Quarantine)
    .useValue({})
    .compile();
  return compiled.createNestMicroservice<AsyncMicroserviceOptions>({
    inject: [StreamsServer],
    useFactory: (strategy: StreamsServer) => ({ strategy }),
  });
}

function runtimeOf(readiness: Readiness, fatal: Error[]): DynamicModule {
  const process = {
    adminHost: '127.0.0.1',
    adminPort: 0,
    logLevel: 'silent',
    instanceId: undefined,
    supervised: false,
  } as const;
  return RuntimeModule.forRoot({
    name: 'test',
    config: { process, kafka: { brokers: ['127.0.0.1:1'], clientId: 'test' } },
    logger: createLogger({ app: 'test', level: 'silent' }),
    metrics: new Registry(),
    onFatal: (error) => fatal.push(error),
    readiness,
    stopping: new AbortController().signal,
  });
}

export function records(...values: number[]): PipedRecord[] {
  return values.map((value) => ({ key: null, value: Buffer.from(String(value)) }));
}
