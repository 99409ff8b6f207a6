import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createTurns, type InTurn } from './turns.js';

const TURN_MS = 1_000;

let begun: string[];
let ends: Map<string, () => void>;

beforeEach(() => {
  jest.useFakeTimers();
  begun = [];
  ends = new Map();
});

afterEach(() => {
  jest.useRealTimers();
});

/** Goes on until it is ended. */
const ask = (inTurn: InTurn, name: string): Promise<string> =>
  inTurn(async () => {
    begun.push(name);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    return name;
  });

const end = async (name: string): Promise<void> => {
  ends.get(name)?.();
  await jest.advanceTimersByTimeAsync(0);
};

describe('turns', () => {
  it('let one begin when the one before has ended', async () => {
    const inTurn = createTurns(1, TURN_MS);
    const first = ask(inTurn, 'first');
    void ask(inTurn, 'second');
    await jest.advanceTimersByTimeAsync(TURN_MS - 1);
    expect(begun).toEqual(['first']);
    await end('first');
    expect(await first).toBe('first');
    expect(begun).toEqual(['first', 'second']);
  });

  it('let as many go on together as they are told to', async () => {
    const inTurn = createTurns(2, TURN_MS);
    for (const name of ['first', 'second', 'third']) void ask(inTurn, name);
    await jest.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['first', 'second']);
  });

  it('are given up by what takes too long, which goes on and counts no more', async () => {
    const inTurn = createTurns(1, TURN_MS);
    const stuck = ask(inTurn, 'stuck');
    for (const name of ['second', 'third']) void ask(inTurn, name);
    await jest.advanceTimersByTimeAsync(TURN_MS);
    expect(begun).toEqual(['stuck', 'second']);
    await end('stuck');
    expect(await stuck).toBe('stuck');
    expect(begun).toEqual(['stuck', 'second']);
    await end('second');
    expect(begun).toEqual(['stuck', 'second', 'third']);
  });

  it('are given up by four at most: the others wait for one of these', async () => {
    const inTurn = createTurns(1, TURN_MS);
    const names = ['1', '2', '3', '4', '5', '6'];
    for (const name of names) void ask(inTurn, name);
    for (let turn = 0; turn < 10; turn += 1) await jest.advanceTimersByTimeAsync(TURN_MS);
    expect(begun).toEqual(['1', '2', '3', '4', '5']);
    await end('3');
    expect(begun).toEqual(['1', '2', '3', '4', '5']);
    for (const name of ['1', '2', '4', '5']) await end(name);
    expect(begun).toEqual(names);
  });

  it('go on to the next when work fails', async () => {
    const inTurn = createTurns(1, TURN_MS);
    const failing = inTurn(() => Promise.reject(new Error('no connection')));
    void ask(inTurn, 'next');
    await expect(failing).rejects.toThrow('no connection');
    await jest.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['next']);
  });
});
