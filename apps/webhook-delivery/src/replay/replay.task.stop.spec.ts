import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { StreamsBackend } from '@waypost/streams';
import type { TransactionalProducer } from '@waypost/streams/admin';
import { holdsFor, until } from '../../../../test/support/until.js';
import { openReplayHarness, type ReplayHarness } from './testing/replay-harness.js';

let stage: ReplayHarness;

beforeEach(async () => {
  stage = await openReplayHarness();
});
afterEach(async () => {
  await stage.close();
  expect(stage.fatal).toEqual([]);
});

it('counts a replay out once, though it ends while the replayer stops', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let isHeld = false;
  /** Holds the commit after that of the only delivery: it says that the replay is completed. */
  const held = (backend: StreamsBackend) =>
    Object.create(backend, {
      producer: {
        value: (id: string): TransactionalProducer => {
          const producer = backend.producer(id);
          const commit: TransactionalProducer['commit'] = async (transaction) => {
            isHeld = (await stage.progressOf())?.sent === 1;
            if (isHeld) await released;
            return producer.commit(transaction);
          };
          return { init: () => producer.init(), commit, close: () => producer.close() };
        },
      },
    }) as StreamsBackend;
  stage.sent(0);
  stage.ask();
  const replayer = await stage.startReplayer({ through: held });
  await until(() => isHeld);
  const stopped = replayer.stop();
  await holdsFor(50, () => expect(stage.unfinished).toBe(1));
  release();
  await stopped;
  expect(await stage.progressOf()).toMatchObject({ state: 'completed' });
  expect(stage.unfinished).toBe(0);
});
