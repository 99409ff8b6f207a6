import { join } from 'node:path';
import type { ProcessUsage } from '../../shared/processes/process-usage.js';
import { startWorker } from '../../shared/processes/worker.js';
import type { BenchStack } from '../../shared/stack/bench-stack.js';
import {
  type LoadChange,
  type LoadPlan,
  type LoadRequestMessage,
  type LoadResult,
  SENT_WIDTH,
} from '../load/messages.js';
import type { Behavior } from '../sink/behaviors.js';
import { RECEIPT_WIDTH } from '../sink/origin.js';
import type { SinkCount, SinkRequestMessage } from '../sink/sink.js';
import type { Certificate } from '../stack/receivers.js';
import { NumberTable } from './number-table.js';

/** The load generator and the sink: two processes that are not under measurement. */
export interface Harness {
  start(plan: LoadPlan): Promise<void>;
  /** Changes a load of a set rate while it goes on: its rate, and the weights of its targets. */
  retarget(change: LoadChange): Promise<void>;
  /** Ends the load, or waits for its end. */
  finish(options: { readonly stop: boolean }): Promise<SentEvents>;
  behave(endpoints: readonly number[], behavior: Behavior): Promise<void>;
  count(): Promise<SinkCount>;
  /** The sink has nothing in hand when this is asked for. */
  forget(): Promise<void>;
  /** Columns as RECEIPT says. */
  receipts(): Promise<NumberTable>;
  /** POSTs a second that the generator makes on the sink, with nothing else between them. */
  rawPosts(connections: number, seconds: number): Promise<number>;
  usage(): { readonly load: ProcessUsage; readonly sink: ProcessUsage };
  stop(): void;
}

export interface SentEvents extends LoadResult {
  /** A row for each event from `firstEvent` on, columns as SENT says. */
  readonly sent: NumberTable;
}

interface HarnessOptions {
  readonly stack: BenchStack;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
  readonly certificate: Certificate;
}

export async function startHarness(options: HarnessOptions): Promise<Harness> {
  const { stack, environment, ports, certificate } = options;
  const { guardian, logsDir } = stack;
  const common = { guardian, logsDir, env: environment };
  const program = (name: string): string => join(import.meta.dirname, '..', name, 'main.js');
  const load = startWorker({ ...common, name: 'bench-load', program: program('load') });
  const sink = startWorker({
    ...common,
    name: 'bench-sink',
    program: program('sink'),
    onNotice: (value) => {
      const { answered200 } = value as { readonly answered200: number };
      void askLoad({ type: 'answered', answered200 }).catch(() => undefined);
    },
  });
  const askLoad = <T>(request: LoadRequestMessage): Promise<T> => load.ask<T>(request);
  const askSink = <T>(request: SinkRequestMessage): Promise<T> => sink.ask<T>(request);
  const stop = (): void => {
    load.stop();
    sink.stop();
  };
  const { kafka, registryUrl } = stack;
  try {
    await Promise.all([
      askSink({ type: 'open', ports, certificate }),
      askLoad({ type: 'connect', brokers: kafka.brokers, registryUrl }),
    ]);
  } catch (error) {
    stop();
    throw error;
  }

  return {
    async start(plan) {
      const { answered200 } = await askSink<SinkCount>({ type: 'count' });
      await askLoad({ type: 'start', plan });
      await askLoad({ type: 'answered', answered200 });
    },
    retarget: (change) => askLoad({ type: 'retarget', change }),
    async finish({ stop: isStopped }) {
      const file = stack.file('bench-sent.bin');
      const result = await askLoad<LoadResult>({ type: 'finish', stop: isStopped, file });
      return { ...result, sent: NumberTable.load(file, SENT_WIDTH) };
    },
    behave: (endpoints, behavior) => askSink({ type: 'behave', endpoints, behavior }),
    count: () => askSink({ type: 'count' }),
    forget: () => askSink({ type: 'forget' }),
    async receipts() {
      const file = stack.file('bench-receipts.bin');
      await askSink({ type: 'save', file });
      return NumberTable.load(file, RECEIPT_WIDTH);
    },
    rawPosts: (connections, seconds) => askLoad({ type: 'posts', ports, connections, seconds }),
    usage: () => ({ load: load.usage(), sink: sink.usage() }),
    stop,
  };
}
