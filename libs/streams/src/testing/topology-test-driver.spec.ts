import { beforeEach, describe, expect, it } from '@jest/globals';
import { keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import { createTopology } from '../topology/topology.js';
import { createTopologyTestDriver, type TopologyTestDriver } from './topology-test-driver.js';

const counting = createTopology({
  applicationId: 'counting',
  source: 'input',
  stores: { counts: keyValueStore({ changelogTopic: 'counts', serde: jsonSerde<number>() }) },
  sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
  processor: (context) => ({
    process: ({ key, value }) => {
      const counts = context.store('counts');
      counts.put(String(key), (counts.get(String(key)) ?? 0) + 1);
      context.forward('output', { key, value: Buffer.from(String(context.currentStreamTimeMs())) });
      if (String(value) === 'poison') throw new Error('cannot process this');
    },
    punctuate: ({ wallClockMs }) => {
      if (wallClockMs === 0) return;
      context.store('counts').put('ticks', wallClockMs);
      throw new Error('cannot do this in time');
    },
  }),
});

let driver: TopologyTestDriver<NonNullable<(typeof counting)['stores']>, 'output'>;

beforeEach(() => {
  driver = createTopologyTestDriver({ topology: counting });
});

function pipe(value: string, timestamp = 1_000) {
  return driver.pipe({ key: Buffer.from('van'), value: Buffer.from(value), timestamp });
}

describe('the test driver', () => {
  it('keeps nothing of a record at which the processor throws', async () => {
    await pipe('a');
    await expect(pipe('poison')).rejects.toThrow('cannot process this');
    expect(driver.store('counts').get('van')).toBe(1);
    await pipe('b');
    expect(driver.store('counts').get('van')).toBe(2);
    expect(driver.readOutput('output')).toHaveLength(2);
  });

  it('keeps nothing of a punctuate() that throws', async () => {
    expect(() => driver.punctuate(7)).toThrow('cannot do this in time');
    expect(driver.store('counts').get('ticks')).toBeUndefined();
    await expect(pipe('a')).rejects.toThrow('cannot do this in time');
  });

  it('gives a processor records of all its sources', async () => {
    const joining = createTopology({
      applicationId: 'joining',
      source: ['orders', 'payments'],
      sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
      processor: (context) => ({
        process: ({ key }) => context.forward('output', { key, value: Buffer.from(context.topic) }),
      }),
    });
    const both = createTopologyTestDriver({ topology: joining });
    const record = { key: null, value: null };
    for (const piped of [record, { ...record, topic: 'payments' }]) await both.pipe(piped);
    expect(both.readOutput('output').map(({ value }) => String(value))).toEqual(['orders', 'payments']);
    await expect(both.pipe({ ...record, topic: 'refunds' })).rejects.toThrow('refunds: a slice is of one source of');
  });

  it('knows the stream time of committed records after a restart, as the runtime does', async () => {
    await pipe('a', 5_000);
    await driver.restart();
    const [late] = await pipe('b', 4_000);
    expect(String(late?.value)).toBe('5000');
  });
});
