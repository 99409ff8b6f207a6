import { beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import type { BaseOffsets, StreamsBackend, Transaction } from '../backend/backend.js';
import { StreamsError } from '../errors.js';
import { RecordCollector } from '../protocol/record-collector.js';
import { StreamsProducer, type TaskProducer } from './streams-producer.js';

interface Call {
  readonly transactionalId: string;
  readonly values: string[];
  readonly offsets: number[];
  readonly end: (result?: Error) => void;
}

let calls: Call[];
let inits: string[];
let closed: string[];
let refuseInit: Error | null;
let producer: StreamsProducer;

const backend: Pick<StreamsBackend, 'producer'> = {
  producer: (transactionalId) => ({
    init: () => {
      inits.push(transactionalId);
      return refuseInit ? Promise.reject(refuseInit) : Promise.resolve();
    },
    close: () => Promise.resolve(void closed.push(transactionalId)),
    commit: ({ records, offsets = [] }: Transaction) =>
      new Promise<BaseOffsets>((resolve, reject) => {
        const values = [...records].map(({ value }) => String(value));
        const end = (result?: Error): void => (result ? reject(result) : resolve(new Map([['out-0', 7]])));
        calls.push({ transactionalId, values, offsets: offsets.map(({ offset }) => offset), end });
      }),
  }),
};

beforeEach(() => {
  calls = [];
  inits = [];
  closed = [];
  refuseInit = null;
  let ids = 0;
  producer = new StreamsProducer({ backend, newTransactionalId: () => `app.${String(++ids)}`, gatherMs: () => 0 });
});

function commit(task: TaskProducer, partition: number, value: string | Buffer = `v${String(partition)}`) {
  const records = new RecordCollector();
  records.to('out', partition).append(null, Buffer.from(value));
  const offsets = [{ topic: 'in', partition, groupId: 'app', offset: partition }];
  return task.commit({ records, offsets }).catch((error: unknown) => error);
}

async function call(index: number): Promise<Call> {
  await until(() => calls.length > index);
  return calls[index] as Call;
}

const refusal = new StreamsError('RECORD_TOO_LARGE', 'It is too large.');

describe('the transactions of the tasks of a process', () => {
  it('are one for those that commit at the same moment, and the next one for those that commit meanwhile', async () => {
    const [a, b, c] = [await producer.open(0), await producer.open(1), await producer.open(2)];
    const results = [commit(a, 0), commit(b, 1)];
    const first = await call(0);
    results.push(commit(c, 2));
    expect(calls).toHaveLength(1);
    first.end();
    (await call(1)).end();
    expect(await Promise.all(results)).toEqual(
      results.map(() => ({ baseOffsets: new Map([['out-0', 7]]), isRepeated: false })),
    );
    expect(calls.map(({ values, offsets }) => ({ values, offsets }))).toEqual([
      { values: ['v0', 'v1'], offsets: [0, 1] },
      { values: ['v2'], offsets: [2] },
    ]);
    expect(inits).toEqual(['app.1']);
  });

  it('are tried one by one after a refusal, which meets only the task that it is about', async () => {
    const tasks = [await producer.open(0), await producer.open(1), await producer.open(2)];
    const results = tasks.map((task, partition) => commit(task, partition));
    (await call(0)).end(refusal);
    (await call(1)).end();
    (await call(2)).end(refusal);
    (await call(3)).end();
    const again = { baseOffsets: expect.any(Map), isRepeated: true };
    expect(await Promise.all(results)).toEqual([again, refusal, again]);
    expect(calls.slice(1).map(({ values }) => values)).toEqual([['v0'], ['v1'], ['v2']]);
    expect(closed).toEqual([]);
  });

  it('do not hold the next attempts of a task that was refused, until one succeeds', async () => {
    const tasks = [await producer.open(0), await producer.open(1)];
    const results = tasks.map((task, partition) => commit(task, partition));
    (await call(0)).end(refusal);
    (await call(1)).end();
    (await call(2)).end(refusal);
    await Promise.all(results);
    const apart = await producer.open(1);
    expect(apart.transactionalId).toBe('app.2');
    const [other, again] = [commit(tasks[0] as TaskProducer, 0), commit(apart, 1)];
    await until(() => calls.length === 5);
    expect(calls.slice(3).map(({ transactionalId, values }) => [transactionalId, values])).toEqual([
      ['app.1', ['v0']],
      ['app.2', ['v1']],
    ]);
    for (const { end } of calls.slice(3)) end();
    await Promise.all([other, again]);
    expect(await commit(apart, 1)).toMatchObject({ message: 'It commits with the other tasks again.' });
    expect((await producer.open(1)).transactionalId).toBe('app.1');
  });

  it('are tried apart when a leader takes nothing, whose partition holds up all later ones of the producer', async () => {
    const [a, b, c] = [await producer.open(0), await producer.open(1), await producer.open(2)];
    const results = [commit(a, 0), commit(b, 1)];
    const first = await call(0);
    results.push(commit(c, 2));
    const heldUp = new StreamsError('BROKER_UNAVAILABLE', 'no leader');
    first.end(heldUp);
    expect(await Promise.all(results)).toEqual([heldUp, heldUp, heldUp]);
    expect(closed).toEqual(['app.1']);
    const opened = [await producer.open(0), await producer.open(1), await producer.open(2)];
    expect(opened.map(({ transactionalId }) => transactionalId)).toEqual(['app.2', 'app.3', 'app.4']);
    expect((await producer.open(3)).transactionalId).toBe('app.4');
    await producer.fence('app.1');
    expect(inits).toEqual(['app.1', 'app.2', 'app.3', 'app.4']);
  });

  it.each([
    ['another producer has fenced this one', new StreamsError('PRODUCER_FENCED', 'fenced')],
    ['their outcome is unknown', new StreamsError('PRODUCER_FAILED', 'no answer')],
    ['something unexpected happens', new Error('no idea')],
  ])('all fail when %s, until each task has opened again, under another id', async (_when, failure) => {
    const [a, b] = [await producer.open(0), await producer.open(1)];
    const during = commit(a, 0);
    const first = await call(0);
    const waiting = commit(b, 1);
    first.end(failure);
    expect(await Promise.all([during, waiting, commit(b, 1)])).toEqual([failure, failure, failure]);
    expect(closed).toEqual(['app.1']);
    const opened = await producer.open(0);
    expect(opened.transactionalId).toBe('app.2');
    expect(await commit(b, 1)).toBe(failure);
    const again = commit(opened, 0);
    const second = await call(1);
    expect(second.transactionalId).toBe('app.2');
    second.end();
    expect(await again).toMatchObject({ isRepeated: false });
  });

  it('fail for the rest of a refused one too when the producer fails while they are tried one by one', async () => {
    const tasks = [await producer.open(0), await producer.open(1), await producer.open(2)];
    const results = tasks.map((task, partition) => commit(task, partition));
    (await call(0)).end(refusal);
    const failure = new StreamsError('PRODUCER_FAILED', 'no answer');
    (await call(1)).end(failure);
    expect(await Promise.all(results)).toEqual([failure, failure, failure]);
    expect(calls).toHaveLength(2);
  });

  it('hold nothing of a task that was closed before they began, or before its part is tried again', async () => {
    const tasks = [await producer.open(0), await producer.open(1), await producer.open(2)];
    const [a, b, c] = tasks as [TaskProducer, TaskProducer, TaskProducer];
    const results = [commit(a, 0), commit(b, 1)];
    const first = await call(0);
    results.push(commit(c, 2));
    for (const task of [b, c]) task.close();
    first.end(refusal);
    (await call(1)).end();
    const isClosed = expect.objectContaining({ message: 'The task is closed.' });
    expect(await Promise.all(results)).toEqual([expect.anything(), isClosed, isClosed]);
    expect(await commit(b, 1)).toEqual(isClosed);
    expect(calls.map(({ values }) => values)).toEqual([['v0', 'v1'], ['v0']]);
  });

  it('are over before another task of the partition opens, which ends the one before it', async () => {
    const task = await producer.open(0);
    const during = commit(task, 0);
    const first = await call(0);
    let isOpen = false;
    const opening = producer.open(0).then(() => (isOpen = true));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isOpen).toBe(false);
    first.end();
    await Promise.all([opening, during]);
    expect(await commit(task, 0)).toMatchObject({ message: 'The task is closed.' });
  });

  it('that follow each other without a pause let another task open in between', async () => {
    const busy = await producer.open(0);
    let isOver = false;
    const work = (async () => {
      while (!isOver) await Promise.all([commit(busy, 0), commit(busy, 0)]);
    })();
    const answer = setInterval(() => calls.at(-1)?.end(), 1);
    await producer.open(1);
    isOver = true;
    await work;
    clearInterval(answer);
  });

  it('are not joined beyond what a request should hold', async () => {
    const tasks = await Promise.all([0, 1, 2].map((partition) => producer.open(partition)));
    const megabytes = (count: number): Buffer => Buffer.alloc(count * 1024 * 1024);
    const results = [20, 10, 10].map((size, index) => commit(tasks[index] as TaskProducer, index, megabytes(size)));
    for (const index of [0, 1, 2]) (await call(index)).end();
    await Promise.all(results);
    expect(calls.map(({ offsets }) => offsets)).toEqual([[0], [1], [2]]);
  });
});

describe('a producer', () => {
  it('that cannot begin is no obstacle to the next attempt', async () => {
    refuseInit = new Error('no coordinator');
    const opened = await Promise.allSettled([producer.open(0), producer.open(1)]);
    expect(opened.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(closed).toEqual(['app.1']);
    refuseInit = null;
    expect((await producer.open(0)).transactionalId).toBe('app.2');
  });

  it('is closed with the application, and no other begins', async () => {
    await producer.open(0);
    await producer.close();
    expect(closed).toEqual(['app.1']);
    await expect(producer.fence('app.old')).rejects.toThrow('stopped');
    await expect(producer.open(1)).rejects.toThrow('stopped');
    expect(inits).toEqual(['app.1']);
  });

  it('that a task had for itself ends with its first success, and is not fenced, since nothing of it is unknown', async () => {
    const refused = commit(await producer.open(0), 0);
    (await call(0)).end(refusal);
    await refused;
    const alone = commit(await producer.open(0), 0);
    const [{ transactionalId, end }] = [await call(1)];
    expect([transactionalId, closed]).toEqual(['app.2', []]);
    end();
    await alone;
    expect(closed).toEqual(['app.2']);
    await producer.fence('app.2');
    expect(inits).toEqual(['app.1', 'app.2']);
  });

  it('that a task has for itself is another one when it fails again after a success', async () => {
    for (const [index, id] of ['app.1', 'app.2', 'app.1', 'app.3'].entries()) {
      const task = await producer.open(0);
      expect(task.transactionalId).toBe(id);
      const outcome = commit(task, 0);
      (await call(index)).end(index % 2 === 0 ? refusal : undefined);
      await outcome;
    }
    expect(closed).toEqual(['app.2', 'app.3']);
  });

  it('of another process is fenced once for all tasks that find its name together, and again by later ones', async () => {
    await Promise.all([producer.fence('app.old'), producer.fence('app.old')]);
    await producer.fence('app.old');
    expect(inits).toEqual(['app.old', 'app.old']);
    expect(closed).toEqual(['app.old', 'app.old']);
  });

  it('of this process is fenced only when it is unknown what has become of its last transaction', async () => {
    const task = await producer.open(0);
    await producer.fence('app.1');
    expect(inits).toEqual(['app.1']);
    const failed = commit(task, 0);
    (await call(0)).end(new StreamsError('PRODUCER_FAILED', 'no answer'));
    await failed;
    await producer.fence('app.1');
    expect(inits).toEqual(['app.1', 'app.1']);
  });

  it('of another process is not taken for fenced when that has failed', async () => {
    refuseInit = new Error('no coordinator');
    await expect(producer.fence('app.old')).rejects.toThrow('no coordinator');
    refuseInit = null;
    await producer.fence('app.old');
    expect(inits).toEqual(['app.old', 'app.old']);
  });
});
