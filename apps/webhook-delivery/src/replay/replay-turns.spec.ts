import { describe, expect, it } from '@jest/globals';
import { StreamsError } from '@waypost/streams';
import type { ReplayJob } from './replay-job.js';
import { createReplayTurns } from './replay-turns.js';
import { Aborted } from './until-aborted.js';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Replays of which the test says when they are over; they look whether they may go on when the test says so. */
const build = (places: number) => {
  const log: string[] = [];
  const failures: Error[] = [];
  let nowMs = 0;
  const turns = createReplayTurns({
    places,
    turnMs: 1_000,
    now: () => nowMs,
    onOver: ({ replayId }) => void log.push(`over ${replayId}`),
    onFailure: (error) => void failures.push(error),
  });
  const job = (replayId: string, subscriptionId: string, series = 1) => {
    let end: (error?: Error) => void = () => undefined;
    let mayGoOn: () => boolean = () => true;
    const made = {
      replayId,
      subscriptionId,
      series,
      isOver: false,
      turn: (goesOn: () => boolean): Promise<void> => {
        log.push(`turn ${replayId}`);
        mayGoOn = goesOn;
        return new Promise((resolve, reject) => {
          end = (error) => {
            if (error) reject(error);
            else resolve();
          };
        });
      },
    };
    return {
      job: made as unknown as ReplayJob,
      finish: async () => {
        made.isOver = true;
        end();
        await settled();
      },
      fail: async (error: Error) => {
        end(error);
        await settled();
      },
      /** It looks, and leaves when it has to. */
      look: async () => {
        if (!mayGoOn()) end();
        await settled();
      },
    };
  };
  return { turns, job, log, failures, pass: (ms: number) => (nowMs += ms) };
};

describe('the turns of replays', () => {
  it('are taken by as many subscriptions at a time as there are places', async () => {
    const { turns, job, log } = build(2);
    const [a, b, c] = [job('a', 'sa'), job('b', 'sb'), job('c', 'sc')];
    for (const one of [a, b, c]) turns.add(one.job);
    expect(log).toEqual(['turn a', 'turn b']);
    await a.finish();
    expect(log).toEqual(['turn a', 'turn b', 'over a', 'turn c']);
  });

  it('change after a while when others wait, and only then', async () => {
    const { turns, job, log, pass } = build(1);
    const [a, b] = [job('a', 'sa'), job('b', 'sb')];
    turns.add(a.job);
    pass(5_000);
    await a.look();
    expect(log).toEqual(['turn a']);
    turns.add(b.job);
    await a.look();
    expect(log).toEqual(['turn a', 'turn b']);
    await b.look();
    expect(log).toHaveLength(2);
    pass(1_000);
    await b.look();
    expect(log).toEqual(['turn a', 'turn b', 'turn a']);
  });

  it('go to one replay of a subscription at a time, the oldest first', async () => {
    const { turns, job, log, pass } = build(8);
    const [second, third, first] = [job('2', 's', 2), job('3', 's', 3), job('1', 's', 1)];
    turns.add(second.job);
    turns.add(third.job);
    turns.add(first.job);
    pass(5_000);
    await second.look();
    expect(log).toEqual(['turn 2']);
    await second.finish();
    await first.finish();
    expect(log).toEqual(['turn 2', 'over 2', 'turn 1', 'over 1', 'turn 3']);
  });

  it('come at once to a replay that is cancelled while it waits', () => {
    const { turns, job, log } = build(1);
    turns.add(job('a', 'sa').job);
    const waiting = job('b', 'sb').job;
    turns.add(waiting);
    turns.cancelled(waiting);
    turns.cancelled(waiting);
    expect(log).toEqual(['turn a', 'turn b']);
  });

  it('are taken again when the log has lost what was to be read; any other failure is told', async () => {
    const { turns, job, log, failures } = build(1);
    const a = job('a', 'sa');
    turns.add(a.job);
    await a.fail(new StreamsError('OFFSET_OUT_OF_RANGE', 'deleted'));
    expect(log).toEqual(['turn a', 'turn a']);
    await a.fail(new Error('broken'));
    expect(failures.map(({ message }) => message)).toEqual(['broken']);
  });

  it('end when they are closed: nothing begins any more', async () => {
    const { turns, job, log, failures } = build(1);
    const [a, b] = [job('a', 'sa'), job('b', 'sb')];
    turns.add(a.job);
    turns.add(b.job);
    const drained = turns.drained();
    await a.fail(new Aborted());
    await drained;
    expect([log, failures]).toEqual([['turn a'], []]);
  });
});
