import { afterEach, beforeEach, expect } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';
import { readToEnd } from '../../backend/log-reader.js';
import { silentLogger } from '../../logger.js';
import { keyValueStore } from '../../state/key-value-store.js';
import { jsonSerde } from '../../state/state-store.js';
import { createMemoryBackend } from '../../testing/memory-backend.js';
import { createTopology, type Topology } from '../../topology/topology.js';
import { createStreamsApp, type StreamsAppOptions } from '../streams-app.js';
import type { TaskManager } from '../task-manager.js';

export const INPUT = { topic: 'input', partition: 0 };
export const CHANGELOG = { topic: 'counts', partition: 0 };
const OUTPUT = { topic: 'output', partition: 0 };

/**
 * Counts the records of each key: of `a` and then `b` the outputs are `a1` and `b2`.
 * @param ignores asked for each value; what is ignored changes nothing
 */
export function createCounting(ignores: (value: string) => boolean = () => false) {
  return createTopology({
    applicationId: 'counting',
    source: INPUT.topic,
    stores: { counts: keyValueStore({ changelogTopic: CHANGELOG.topic, serde: jsonSerde<number>() }) },
    sinks: { output: { topic: OUTPUT.topic, partitioner: 'source-partition' } },
    processor: (context) => ({
      process: ({ key, value }) => {
        if (ignores(String(value))) return;
        const count = (context.store('counts').get(String(key)) ?? 0) + 1;
        context.store('counts').put(String(key), count);
        context.forward('output', { key, value: Buffer.from(`${String(value)}${String(count)}`) });
      },
    }),
  });
}

export const counting = createCounting();

export function createCountingBroker(moreTopics: Readonly<Record<string, number>> = {}) {
  return createMemoryBackend({ topics: { input: 1, output: 1, counts: 1, ...moreTopics }, now: Date.now });
}

/** Applications that count, on a broker of each test. They are stopped after it. */
export class CountingApps {
  broker = createCountingBroker();
  private apps: TaskManager[] = [];

  constructor() {
    beforeEach(() => {
      this.broker = createCountingBroker();
      this.apps = [];
    });
    afterEach(() => Promise.all(this.apps.map((app) => app.stop())));
  }

  async start(
    topology: Topology = counting,
    { logger = silentLogger, now = Date.now }: Partial<Pick<StreamsAppOptions, 'logger' | 'now'>> = {},
  ): Promise<TaskManager> {
    const onFatal = (error: Error): never => {
      throw error;
    };
    const app = createStreamsApp({ topology, backend: this.broker, logger, now, lingerMs: 0, onFatal });
    this.apps.push(app);
    await app.start();
    return app;
  }

  append(...values: string[]): void {
    for (const value of values) this.broker.append(INPUT, { key: Buffer.from('k'), value: Buffer.from(value) });
  }

  async outputs(): Promise<string[]> {
    const found: string[] = [];
    await readToEnd(this.broker, this.broker.fetcher(), OUTPUT, 0, ({ records }) => {
      found.push(...records.map(({ value }) => String(value)));
    });
    return found;
  }

  async untilOutputs(...expected: string[]): Promise<void> {
    await until(async () => (await this.outputs()).length >= expected.length);
    expect(await this.outputs()).toEqual(expected);
  }
}

export async function untilParked(app: TaskManager): Promise<void> {
  await until(() => app.tasks()[0]?.state === 'parked');
}
