import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { readToEnd } from '../backend/log-reader.js';
import { silentLogger } from '../logger.js';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology } from '../topology/topology.js';
import { createStreamsApp } from './streams-app.js';
import type { TaskManager } from './task-manager.js';

const INPUT = { topic: 'input', partition: 0 };
const OUTPUT = { topic: 'output', partition: 0 };

const counting = createTopology({
  applicationId: 'counting',
  source: INPUT.topic,
  stores: { counts: keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>() }) },
  sinks: { output: { topic: OUTPUT.topic, partitioner: 'source-partition' } },
  processor: (context) => ({
    process: ({ key, value }) => {
      if (String(value) === 'quiet') return;
      if (String(value) === 'lost') {
        whileProcessed();
        return;
      }
      const count = (context.store('counts').get(String(key)) ?? 0) + 1;
      context.store('counts').put(String(key), count);
      context.forward('output', { key, value: Buffer.from(`${String(value)}${String(count)}`) });
    },
  }),
});

let broker: ReturnType<typeof createMemoryBackend>;
let apps: TaskManager[];
/** What the log has of errors. */
let errors: string[];
/** What happens while the record `lost` is processed, which like `quiet` changes nothing and is not committed at once. */
let whileProcessed: () => void;

beforeEach(() => {
  broker = createMemoryBackend({ topics: { input: 1, output: 1, counts: 1 }, now: Date.now });
  [apps, errors] = [[], []];
});
afterEach(() => Promise.all(apps.map((app) => app.stop())));

async function start(now = Date.now): Promise<TaskManager> {
  const app = createStreamsApp({
    topology: counting,
    backend: broker,
    logger: { ...silentLogger, error: (event) => void errors.push(event) },
    now,
    lingerMs: 0,
    onFatal: (error) => {
      throw error;
    },
  });
  apps.push(app);
  await app.start();
  return app;
}

function append(...values: string[]): void {
  for (const value of values) broker.append(INPUT, { key: Buffer.from('k'), value: Buffer.from(value) });
}

async function outputs(): Promise<string[]> {
  const found: string[] = [];
  await readToEnd(broker, broker.fetcher(), OUTPUT, 0, ({ records }) => {
    found.push(...records.map(({ value }) => String(value)));
  });
  return found;
}

async function untilOutputs(...expected: string[]): Promise<void> {
  await until(async () => (await outputs()).length >= expected.length);
  expect(await outputs()).toEqual(expected);
}

async function untilParked(app: TaskManager): Promise<void> {
  await until(() => app.tasks()[0]?.state === 'parked');
}

/** Of a, b and c, all of them processed, the last two are lost, and d to f have come in their place. */
function lose(): void {
  broker.loseFrom(INPUT, 1);
  append('d', 'e', 'f');
}

describe('a log that loses processed records to an unclean election (R-45)', () => {
  async function processed(): Promise<TaskManager> {
    append('a', 'b', 'c');
    const app = await start();
    await untilOutputs('a1', 'b2', 'c3');
    return app;
  }

  async function parkedAtStart(): Promise<TaskManager> {
    await (await processed()).stop();
    lose();
    const app = await start();
    await untilParked(app);
    return app;
  }

  it('parks the partition at its next start, with what to do, instead of skipping what came in their place', async () => {
    const app = await parkedAtStart();
    expect(app.tasks()[0]?.parked).toMatchObject({
      code: 'LOG_TRUNCATED',
      offset: null,
      message: expect.stringMatching(/input-0 has lost .* the offsets 1 to 2.*seek with 1,/su),
    });
    expect(await outputs()).toEqual(['a1', 'b2', 'c3']);
  });

  it('parks a partition that is being read', async () => {
    const app = await processed();
    const asked = jest.spyOn(broker, 'epochEnd');
    lose();
    append('g');
    await untilParked(app);
    expect(app.tasks()[0]?.parked?.code).toBe('LOG_TRUNCATED');
    // Not one that leads since before what was read.
    expect(asked.mock.calls[0]).toEqual([INPUT, 0, 1]);
    expect(await outputs()).toEqual(['a1', 'b2', 'c3']);
  });

  it('parks a partition that is being read, and whose log is shorter than what was read, for the same reason', async () => {
    const app = await processed();
    broker.loseFrom(INPUT, 1);
    await untilParked(app);
    expect(app.tasks()[0]?.parked).toMatchObject({
      code: 'LOG_TRUNCATED',
      message: expect.stringContaining('seek with 1,'),
    });
  });

  it('leaves a position outside of the log to the broker where it does not know of which leader it is', async () => {
    await broker.group({ groupId: 'counting', topics: [] }).commit(INPUT, { offset: 9, metadata: '' });
    const app = await start();
    await untilParked(app);
    expect(app.tasks()[0]?.parked?.code).toBe('OFFSET_OUT_OF_RANGE');
  });

  it.each([
    ['what was lost', 1, ['d4', 'e5', 'f6', 'g7']],
    ['the end of the log', 'latest', ['g4']],
  ] as const)('goes on with its state from %s on command, and is not parked again', async (_where, seek, more) => {
    const app = await parkedAtStart();
    expect(app.command(INPUT, { seek })).toBeNull();
    await until(() => app.tasks()[0]?.state === 'running');
    append('g');
    await untilOutputs('a1', 'b2', 'c3', ...more);
    await app.stop();
    await start();
    append('h');
    await untilOutputs('a1', 'b2', 'c3', ...more, `h${String(3 + more.length + 1)}`);
  });

  it('goes on by itself where only records are lost that it had not processed', async () => {
    append('a');
    const app = await start();
    await untilOutputs('a1');
    await app.stop();
    append('b', 'c');
    lose();
    await start();
    await untilOutputs('a1', 'd2', 'e3', 'f4');
  });

  it('goes on by itself, with what is left, where only records are lost that it has processed and not committed', async () => {
    whileProcessed = () => {
      broker.loseFrom(INPUT, 2);
      append('d', 'e');
    };
    append('a');
    // It never becomes time for a commit without output.
    await start(() => 0);
    await untilOutputs('a1');
    append('quiet', 'lost');
    await untilOutputs('a1', 'd2', 'e3');
    expect(errors).toEqual([]);
  });
});
