import { describe, expect, it } from '@jest/globals';
import { flushed } from '../../../test/support/until.js';
import { FleetBusyError, FleetTurns } from './fleet-turns.js';

/** Two of a fleet at a time, the second only while less than `inAll` is under way. Work begins when it is shown in `begun`, and ends when the test ends it. */
function build({ inAll = 10, waiting = 10, waitMs = 60_000 } = {}) {
  const turns = new FleetTurns({ atATime: 2, inAll, waiting, waitMs });
  const begun: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  function run(fleetId: string, name: string): Promise<string> {
    return turns.run(fleetId, () => {
      begun.push(name);
      return new Promise((resolve, reject) => {
        ends.set(name, (failure) => (failure === undefined ? resolve(name) : reject(failure)));
      });
    });
  }
  async function end(name: string, failure?: Error): Promise<void> {
    ends.get(name)?.(failure);
    await flushed();
  }
  return { run, begun, end };
}

describe('the turns of a fleet at the database (R-26)', () => {
  it('are two at a time here: the others of the fleet wait in order, and those of another fleet do not', async () => {
    const { run, begun, end } = build();
    const all = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => run(name.slice(0, 1), name));
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
    all.push(run('a', 'a5'));
    await end('a1');
    await end('a3');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4', 'a5']);
    for (const name of ['a4', 'a5', 'b1']) await end(name);
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'a5']);
  });

  it('leave room to fleets that have none under way, however many others take all that they may', async () => {
    const { run, begun, end } = build({ inAll: 3 });
    const all = ['a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'd1'].map((name) => run(name.slice(0, 1), name));
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'd1']);
    // Three are left, so no fleet gets a second.
    await end('a1');
    await end('a2');
    expect(begun).toHaveLength(5);
    await end('c1');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'd1', 'c2']);
    await end('c2');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'd1', 'c2', 'b2']);
    for (const name of ['b1', 'b2', 'd1']) await end(name);
    await Promise.all(all);
  });

  it('pass to the fleet with the least under way, and never to a newcomer before those of its fleet', async () => {
    const { run, begun, end } = build({ inAll: 2 });
    const all = ['a1', 'b1', 'a2', 'b2', 'b3'].map((name) => run(name.slice(0, 1), name));
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'b2']);
    all.push(run('b', 'b4'));
    await end('a1');
    await end('a2');
    expect(begun).toEqual(['a1', 'b1', 'b2', 'a2', 'b3']);
    for (const name of ['b2', 'b3', 'b4']) await end(name);
    expect(begun.at(-1)).toBe('b4');
    await Promise.all(all);
  });

  it('pass on when work fails, and its failure is seen', async () => {
    const { run, begun, end } = build();
    const failed = run('a', 'a1').catch((error: unknown) => error);
    const others = [run('a', 'a2'), run('a', 'a3')];
    const failure = new Error('connection lost');
    await end('a1', failure);
    expect(await failed).toBe(failure);
    expect(begun).toEqual(['a1', 'a2', 'a3']);
    for (const name of ['a2', 'a3']) await end(name);
    await Promise.all(others);
  });

  it('are refused behind too many that wait, and those that wait get theirs', async () => {
    const { run, begun, end } = build({ waiting: 1 });
    const admitted = ['a1', 'a2', 'a3'].map((name) => run('a', name));
    await expect(run('a', 'a4')).rejects.toThrow(FleetBusyError);
    for (const name of ['a1', 'a2', 'a3']) await end(name);
    await Promise.all(admitted);
    expect(begun).toEqual(['a1', 'a2', 'a3']);
  });

  it('are not waited for any longer than allowed, and never begin after that', async () => {
    const { run, begun, end } = build({ waitMs: 5 });
    const admitted = ['a1', 'a2'].map((name) => run('a', name));
    await expect(run('a', 'a3')).rejects.toThrow(FleetBusyError);
    for (const name of ['a1', 'a2']) await end(name);
    await Promise.all(admitted);
    const later = run('a', 'a4');
    await end('a4');
    expect(await later).toBe('a4');
    expect(begun).toEqual(['a1', 'a2', 'a4']);
  });
});
