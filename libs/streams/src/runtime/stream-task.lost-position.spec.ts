import { describe, expect, it, jest } from '@jest/globals';
import { until } from '../../../../test/support/until.js';
import { type KeyValueStore, keyValueStore } from '../state/key-value-store.js';
import { jsonSerde } from '../state/state-store.js';
import type { Topology } from '../topology/topology.js';
import type { TaskManager } from './task-manager.js';
import { CHANGELOG, counting, CountingApps, createCountingBroker, INPUT, untilParked } from './testing/counting-app.js';

const apps = new CountingApps();

/** An application that has counted a, b and c, was stopped, and whose group the broker has forgotten since. */
async function startForgotten(): Promise<TaskManager> {
  apps.append('a', 'b', 'c');
  const first = await apps.start();
  await apps.untilOutputs('a1', 'b2', 'c3');
  await first.stop();
  apps.broker.forgetOffsets(counting.applicationId);
  const app = await apps.start();
  await untilParked(app);
  return app;
}

/** Fences the producer of the task, whose next commit fails. */
async function failNextCommit(): Promise<void> {
  const position = await apps.broker.group({ groupId: counting.applicationId, topics: [] }).committed(INPUT);
  const [, writer = ''] = /writer=([^,]+)/.exec(position?.metadata ?? '') ?? [];
  await apps.broker.producer(writer).init();
}

describe('a partition whose committed offset has expired while its changelog is there (R-45)', () => {
  it('is parked with what to do, and repeats nothing', async () => {
    const app = await startForgotten();
    const [task] = app.tasks();
    expect(task?.parked).toMatchObject({ code: 'POSITION_LOST', offset: null });
    expect(task?.parked?.message).toMatch(/counting has no committed offset for input-0.*counts-0.*Seek/s);
    expect(await apps.outputs()).toEqual(['a1', 'b2', 'c3']);
  });

  it.each([
    ['the end of the log', 'latest', ['d4']],
    ['an offset', 2, ['c4', 'd5']],
    ['the start of the log', 'earliest', ['a4', 'b5', 'c6', 'd7']],
  ] as const)('goes on from %s on command', async (_where, seek, more) => {
    const app = await startForgotten();
    expect(app.command(INPUT, { seek })).toBeNull();
    const group = apps.broker.group({ groupId: counting.applicationId, topics: [] });
    await until(async () => (await group.committed(INPUT)) !== null);
    apps.append('d');
    await apps.untilOutputs('a1', 'b2', 'c3', ...more);
  });

  it('goes on once the position is set otherwise, as by the tools of Kafka', async () => {
    const app = await startForgotten();
    const group = apps.broker.group({ groupId: counting.applicationId, topics: [] });
    await group.commit(INPUT, { offset: 3, metadata: '' }, -1);
    apps.append('d');
    expect(app.command(INPUT, 'retry')).toBeNull();
    await apps.untilOutputs('a1', 'b2', 'c3', 'd4');
  });

  it('is moved once when the command is given again before it has made progress', async () => {
    const app = await startForgotten();
    expect(app.command(INPUT, { seek: 3 })).toBeNull();
    const group = apps.broker.group({ groupId: counting.applicationId, topics: [] });
    await until(async () => (await group.committed(INPUT)) !== null);
    expect(app.command(INPUT, { seek: 3 })).toMatch('It is continuing from the position of the last command');
    apps.append('d');
    await apps.untilOutputs('a1', 'b2', 'c3', 'd4');
    await failNextCommit();
    apps.append('e');
    await apps.untilOutputs('a1', 'b2', 'c3', 'd4', 'e5');
  });

  it('is not moved later by a command that came while it was already going on', async () => {
    const app = await startForgotten();
    const group = apps.broker.group({ groupId: counting.applicationId, topics: [] });
    await group.commit(INPUT, { offset: 3, metadata: '' }, -1);
    const restoring = jest.spyOn(apps.broker, 'topicId');
    expect(app.command(INPUT, 'retry')).toBeNull();
    await until(() => restoring.mock.calls.length > 0);
    expect(app.command(INPUT, { seek: 'earliest' })).toBeNull();
    apps.append('d');
    await apps.untilOutputs('a1', 'b2', 'c3', 'd4');
    await failNextCommit();
    apps.append('e');
    await apps.untilOutputs('a1', 'b2', 'c3', 'd4', 'e5');
  });
});

describe('a partition whose changelog is gone while its committed offset is there (R-45)', () => {
  /** The topics were made again, and the group has the offset of before. */
  async function startEmptied(): Promise<TaskManager> {
    apps.append('a', 'b', 'c');
    const first = await apps.start();
    await apps.untilOutputs('a1', 'b2', 'c3');
    await first.stop();
    const committed = await apps.broker.group({ groupId: counting.applicationId, topics: [] }).committed(INPUT);
    if (!committed) throw new Error('Nothing was committed.');
    apps.broker = createCountingBroker();
    apps.append('a', 'b', 'c');
    await apps.broker.group({ groupId: counting.applicationId, topics: [] }).commit(INPUT, committed, -1);
    return apps.start();
  }

  it('is parked with what to do, instead of going on without its state', async () => {
    const app = await startEmptied();
    apps.append('d');
    await untilParked(app);
    expect(app.tasks()[0]?.parked).toMatchObject({ code: 'STATE_LOST', offset: null });
    expect(app.tasks()[0]?.parked?.message).toMatch(/counts-0.*input-0.*seek/s);
    expect(await apps.outputs()).toEqual([]);
  });

  it('makes its state again from the start of the log on command', async () => {
    const app = await startEmptied();
    await untilParked(app);
    expect(app.command(INPUT, { seek: 'earliest' })).toBeNull();
    await apps.untilOutputs('a1', 'b2', 'c3');
  });

  it('is moved with the name of the writer that is still to be fenced, on command', async () => {
    const app = await startEmptied();
    await untilParked(app);
    const outside = apps.broker.group({ groupId: counting.applicationId, topics: [] });
    await outside.commit(INPUT, { offset: 3, metadata: 'counts,writer=counting.gone' }, -1);
    const zombie = apps.broker.producer('counting.gone');
    await zombie.init();
    expect(app.command(INPUT, { seek: 'earliest' })).toBeNull();
    await apps.untilOutputs('a1', 'b2', 'c3');
    await expect(zombie.commit({ records: [] })).rejects.toMatchObject({ code: 'PRODUCER_FENCED' });
  });
});

describe('a partition whose changelog is deleted and made again while it is processed (R-45)', () => {
  function makeAgain(topicId: string): void {
    jest.spyOn(apps.broker, 'topicId').mockResolvedValue(topicId);
    apps.broker.loseFrom(CHANGELOG, 0);
  }

  async function untilCode(app: TaskManager, code: string): Promise<void> {
    await until(() => expect(app.tasks()[0]?.parked?.code).toBe(code));
  }

  async function startAndMakeAgain(): Promise<TaskManager> {
    apps.append('a', 'b');
    const app = await apps.start();
    await apps.untilOutputs('a1', 'b2');
    makeAgain('second');
    apps.append('c');
    await untilCode(app, 'STATE_PARTLY_LOST');
    return app;
  }

  it('is parked after its next commit, with what to do, instead of at some time going on with what came since', async () => {
    const app = await startAndMakeAgain();
    expect(app.tasks()[0]?.parked?.message).toMatch(/counts-0 .* is another topic by now.*counts still has state/su);
    expect(app.command(INPUT, { seek: 'earliest' })).toMatch('The log would be applied twice to the remaining state');
  });

  it('makes its state again from the start of the log on command once that changelog is deleted as well', async () => {
    const app = await startAndMakeAgain();
    makeAgain('third');
    expect(app.command(INPUT, 'retry')).toBeNull();
    await untilCode(app, 'STATE_LOST');
    expect(app.command(INPUT, { seek: 'earliest' })).toBeNull();
    await apps.untilOutputs('a1', 'b2', 'c3', 'a1', 'b2', 'c3');
  });
});

describe('a partition that has lost the state of one store, and not of another (R-45)', () => {
  const SUMS = { topic: 'sums', partition: 0 };
  const withSums: Topology = {
    ...counting,
    stores: { ...counting.stores, sums: keyValueStore({ changelogTopic: SUMS.topic, serde: jsonSerde<number>() }) },
  };

  async function startWithout(): Promise<TaskManager> {
    apps.broker = createCountingBroker({ sums: 1 });
    apps.append('a', 'b');
    apps.broker.append(SUMS, { key: Buffer.from('k'), value: Buffer.from('2') });
    const group = apps.broker.group({ groupId: counting.applicationId, topics: [] });
    await group.commit(INPUT, { offset: 1, metadata: 'counts,sums' }, -1);
    const app = await apps.start(withSums);
    await untilParked(app);
    return app;
  }

  it('names the store that has its state, and does not start over from the log', async () => {
    const app = await startWithout();
    expect(app.tasks()[0]?.parked).toMatchObject({
      code: 'STATE_PARTLY_LOST',
      message: expect.stringMatching(/counts-0.*sums still has state/su),
    });
    expect(app.command(INPUT, { seek: 'earliest' })).toMatch('The log would be applied twice to the remaining state');
  });

  it('goes on without it from an offset', async () => {
    const app = await startWithout();
    expect(app.command(INPUT, { seek: 1 })).toBeNull();
    await apps.untilOutputs('b1');
  });
});

describe('a partition whose position is not lost', () => {
  it('is not parked in a new group', async () => {
    apps.append('a');
    await apps.start();
    await apps.untilOutputs('a1');
  });

  it('is not parked when its first transactions were rolled back and left markers only', async () => {
    await apps.broker.fencedWriter('rolled-back', [CHANGELOG]).init();
    expect(await apps.broker.endOffset(CHANGELOG)).toBeGreaterThan(0);
    apps.append('a');
    await apps.start();
    await apps.untilOutputs('a1');
  });

  it('is not parked when time alone has changed its store, and no record came', async () => {
    const ticking: Topology = {
      ...counting,
      processor: ({ store }) => ({
        process: () => undefined,
        punctuate: () => (store('counts') as KeyValueStore<number>).put('ticks', 1),
      }),
    };
    const first = await apps.start(ticking);
    await until(async () => (await apps.broker.endOffset(CHANGELOG)) > 0);
    await first.stop();
    const second = await apps.start(ticking);
    await until(() => Promise.resolve(second.tasks()[0]?.state !== 'starting'));
    expect(second.tasks()[0]?.parked).toBeNull();
    await second.stop();
    apps.broker.forgetOffsets(counting.applicationId);
    const third = await apps.start(ticking);
    await until(() => Promise.resolve(third.tasks()[0]?.state !== 'starting'));
    expect(third.tasks()[0]?.parked?.code).toBe('POSITION_LOST');
  });

  it('is not parked after a reset to the start of the log', async () => {
    apps.append('a');
    const first = await apps.start();
    await apps.untilOutputs('a1');
    await first.stop();
    const group = apps.broker.group({ groupId: counting.applicationId, topics: [] });
    await group.commit(INPUT, { offset: 0, metadata: '' }, -1);
    await apps.start();
    await apps.untilOutputs('a1', 'a2');
  });

  it('takes no other position on command', async () => {
    apps.append('a');
    const app = await apps.start();
    await apps.untilOutputs('a1');
    expect(app.command(INPUT, { seek: 'earliest' })).toBe('It is not parked.');
  });
});
