import { describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import type { BaseOffsets, StreamsBackend } from '../backend/backend.js';
import { silentLogger } from '../logger.js';
import { type KeyValueStore, keyValueStore } from '../state/key-value-store.js';
import { jsonSerde, type StateStore } from '../state/state-store.js';
import { createMemoryBackend } from '../testing/memory-backend.js';
import { createTopology } from '../topology/topology.js';
import { StateDirectory } from './state-directory.js';
import { StreamTask } from './stream-task.js';
import { StreamsProducer } from './streams-producer.js';

const INPUT = { topic: 'input', partition: 0 };

const counting = createTopology({
  applicationId: 'counting',
  source: INPUT.topic,
  stores: { counts: keyValueStore<number>({ changelogTopic: 'counts', serde: jsonSerde() }) },
  sinks: {},
  processor: (context) => ({ process: ({ key }) => context.store('counts').put(String(key), 1) }),
});

describe('a task that is closed while a commit is under way', () => {
  it('commits nothing in the stores when it ends: the next task has begun to change them', async () => {
    const commits: ((offsets: BaseOffsets) => void)[] = [];
    const broker = createMemoryBackend({ topics: { input: 1, counts: 1 }, now: () => 0 });
    const backend: StreamsBackend = Object.assign(Object.create(broker) as typeof broker, {
      producer: () => ({
        init: () => Promise.resolve(),
        close: () => Promise.resolve(),
        commit: () => new Promise<BaseOffsets>((resolve) => commits.push(resolve)),
      }),
    });
    const directory = { backend, stateDir: undefined, checkpointIntervalMs: 1, logger: silentLogger, now: () => 0 };
    const stores = new StateDirectory({ topology: counting, ...directory }).of(0);
    const context = {
      ...INPUT,
      leaseValid: () => true,
      confirmOwnership: () => Promise.resolve(),
      committedOffset: () => Promise.resolve(null),
      commitOffset: () => Promise.resolve(),
      leaveOut: () => Promise.resolve(null),
      fail: () => undefined,
    };
    const intervals = { commitIntervalMs: 500, lingerMs: 0 };
    const producer = new StreamsProducer({ backend, newTransactionalId: () => 'counting.1', gatherMs: () => 0 });
    const task = new StreamTask({ topology: counting, context, stores, backend, producer, now: () => 0, ...intervals });
    await task.open();
    broker.append(INPUT, { key: Buffer.from('a'), value: null });
    const batch = await broker.fetcher().open(INPUT, 0).next();
    const processed = task.process(batch).catch((error: unknown) => error);
    await until(() => commits.length === 1);

    await task.close();
    const counts = stores.byName.get('counts') as StateStore & KeyValueStore<number>;
    counts.put('of the next task', 1);
    for (const resolve of commits) resolve(new Map());

    expect(await processed).toMatchObject({ message: 'The task was closed while it worked.' });
    expect([...counts.readOnly().entries()]).toEqual([]);
  });
});
