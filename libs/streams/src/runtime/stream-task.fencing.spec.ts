import { beforeEach, describe, expect, it } from '@jest/globals';
import type { CommittedOffset, StreamsBackend, Transaction } from '../backend/backend.js';
import { createMemoryBackend } from '../testing/index.js';
import { createTopology } from '../topology/topology.js';
import { StateManager } from './state-directory.js';
import { StreamTask } from './stream-task.js';
import { StreamsProducer } from './streams-producer.js';

const INPUT = { topic: 'input', partition: 3 };
const copying = createTopology({
  applicationId: 'copying',
  source: INPUT.topic,
  sinks: { output: { topic: 'output', partitioner: 'source-partition' } },
  processor: (context) => ({ process: ({ key, value }) => context.forward('output', { key, value }) }),
});

/** What a task does that another task could notice, in order. */
let steps: string[];
let committed: CommittedOffset | null;
/** Found by the second read. */
let later: CommittedOffset | null;
let broker: ReturnType<typeof createMemoryBackend>;

beforeEach(() => {
  steps = [];
  committed = null;
  later = null;
  broker = createMemoryBackend({ topics: { input: 4, output: 4 }, now: () => 0 });
});

function observed(): StreamsBackend {
  const backend = Object.create(broker) as StreamsBackend;
  backend.producer = (transactionalId) => {
    const producer = broker.producer(transactionalId);
    return {
      init: () => {
        steps.push(`init ${transactionalId}`);
        return producer.init();
      },
      close: () => producer.close(),
      commit: (transaction: Transaction) => {
        for (const { offset, metadata = '' } of transaction.offsets ?? [])
          steps.push(`commit ${String(offset)} ${metadata}`);
        return producer.commit(transaction);
      },
    };
  };
  return backend;
}

async function open(): Promise<StreamTask> {
  const backend = observed();
  const task = new StreamTask({
    topology: copying,
    backend,
    producer: new StreamsProducer({ backend, newTransactionalId: () => 'copying.own', gatherMs: () => 0 }),
    stores: new StateManager([]),
    now: () => 0,
    commitIntervalMs: 500,
    lingerMs: 0,
    context: {
      ...INPUT,
      leaseValid: () => true,
      confirmOwnership: () => Promise.resolve(void steps.push('confirm')),
      committedOffset: (_topic, options) => {
        steps.push(options?.stable ? 'read stable' : 'read');
        const found = committed;
        committed = later ?? committed;
        return Promise.resolve(found);
      },
      commitOffset: (offset, metadata = '', _topic, as) => {
        steps.push(`claim ${String(offset)} ${metadata}`);
        return as === 'confirmed'
          ? Promise.resolve()
          : Promise.reject(new Error('It must be that of the confirmed owner.'));
      },
      leaveOut: () => Promise.resolve(null),
      fail: (error) => {
        throw error;
      },
    },
  });
  await task.open();
  return task;
}

const record = { key: null, value: Buffer.from('v') };

describe('a task that begins on a partition', () => {
  it('fences the producer that it finds there once it knows that the partition is its own, then reads again', async () => {
    committed = { offset: 5, metadata: 'counts,writer=copying.dead,time=7' };
    await open();
    expect(steps).toEqual([
      'init copying.own',
      'read',
      'confirm',
      'init copying.dead',
      'read stable',
      'claim 5 counts,time=7,writer=copying.own',
    ]);
  });

  it('fences the producer of the partition that earlier versions had, where it finds no name', async () => {
    committed = { offset: 5, metadata: 'counts' };
    await open();
    expect(steps.slice(2, 5)).toEqual(['confirm', 'init copying.3', 'read stable']);
  });

  it('fences the producer of the partition that earlier versions had, which may not have committed yet', async () => {
    await open();
    expect(steps.slice(2)).toEqual(['confirm', 'init copying.3', 'read stable', 'claim 0 writer=copying.own']);
  });

  it.each([
    ['that the last owner gave it up', { offset: 5, metadata: 'counts,writer=' }, 'claim 5 counts,writer=copying.own'],
    ['its own name', { offset: 5, metadata: 'writer=copying.own' }, 'claim 5 writer=copying.own'],
  ])('has nothing to fence where it finds %s', async (_what, found, claim) => {
    committed = found;
    await open();
    expect(steps).toEqual(['init copying.own', 'read', 'confirm', 'read stable', claim]);
  });

  it('begins again if the partition has had an owner in between that it has not fenced', async () => {
    committed = { offset: 5, metadata: 'writer=copying.dead' };
    later = { offset: 9, metadata: 'writer=copying.between' };
    await expect(open()).rejects.toThrow('another owner');
    expect(steps.filter((step) => step.startsWith('claim'))).toEqual([]);
  });

  it('goes on where the owner that it has fenced had given the partition up meanwhile', async () => {
    committed = { offset: 5, metadata: 'writer=copying.dead' };
    later = { offset: 9, metadata: 'writer=' };
    await open();
    expect(steps.at(-1)).toBe('claim 9 writer=copying.own');
  });

  it('leaves its name with each position, but for the last one, after which nothing of it can follow', async () => {
    const task = await open();
    broker.append(INPUT, record);
    const feed = broker.fetcher().open(INPUT, 0);
    steps = [];
    await task.process(await feed.next());
    broker.append(INPUT, record);
    await task.process(await feed.next());
    await task.suspend();
    expect(steps).toEqual([
      'commit 1 writer=copying.own,time=0,epoch=0',
      'commit 2 writer=copying.own,time=0,epoch=0',
      'commit 2 writer=,time=0,epoch=0',
      'read stable',
    ]);
  });

  it('takes its name back also when it has done nothing', async () => {
    const task = await open();
    steps = [];
    await task.suspend();
    expect(steps).toEqual(['commit 0 writer=', 'read stable']);
  });
});
