import { describe, expect, it } from '@jest/globals';
import { SelectionMemory } from './selection-memory.js';

describe('the memory of selections (R-26)', () => {
  it('gives a fleet a third, and others a part of what is left', () => {
    const memory = new SelectionMemory(900, 100);
    const begun = (fleetId: string): number => {
      let count = 0;
      for (;;) {
        const held = memory.hold(fleetId);
        if (!held.mayGrow()) return count;
        held.grewTo(0);
        held.isWhole(100);
        count++;
      }
    };
    expect([begun('a'), begun('b'), begun('a'), begun('c')]).toEqual([3, 2, 0, 1]);
    expect(memory.heldBytes).toBe(600);
  });

  it('counts a beginning as some, so that many cannot begin at once, and then what it is', () => {
    const memory = new SelectionMemory(300, 100);
    const [first, second] = [memory.hold('a'), memory.hold('b')];
    first.grewTo(1);
    expect([memory.heldBytes, second.mayGrow()]).toEqual([100, true]);
    second.grewTo(1);
    expect(memory.hold('c').mayGrow()).toBe(false);
    // The replay has not used up what is counted for it.
    expect(second.mayGrow()).toBe(true);
    second.isWhole(1);
    first.isWhole(1);
    expect([memory.heldBytes, memory.hold('c').mayGrow()]).toEqual([2, true]);
  });

  it('lets the one of a fleet that began first go on beyond the share, and the next when it is over, so that never all wait', () => {
    const memory = new SelectionMemory(900, 100);
    const [first, second] = [memory.hold('a'), memory.hold('a')];
    first.grewTo(100);
    second.grewTo(100);
    first.grewTo(500);
    expect([first.mayGrow(), second.mayGrow(), memory.hold('a').mayGrow()]).toEqual([true, false, false]);
    // There is room for one of another fleet.
    expect(memory.hold('b').mayGrow()).toBe(true);
    first.isWhole(500);
    expect([second.mayGrow(), memory.hold('a').mayGrow()]).toEqual([false, false]);
    first.release();
    expect([memory.heldBytes, second.mayGrow(), memory.hold('a').mayGrow()]).toEqual([100, true, true]);
  });

  it('stays within a third and one more, however many of a fleet have begun', () => {
    const memory = new SelectionMemory(900, 10);
    const all = Array.from({ length: 20 }, () => memory.hold('a'));
    for (const held of all) if (held.mayGrow()) held.grewTo(10);
    for (let round = 0; round < 10; round++)
      for (const [index, held] of all.entries()) if (held.mayGrow()) held.grewTo(100 + index);
    for (const held of all) if (held.mayGrow()) held.isWhole(200);
    expect(memory.heldBytes).toBeLessThan(300 + 200 + 20 * 10);
    expect(memory.hold('b').mayGrow()).toBe(true);
  });

  it('lets another one of a fleet go on while the first does not', () => {
    const memory = new SelectionMemory(900, 100);
    const [first, second] = [memory.hold('a'), memory.hold('a')];
    first.grewTo(400);
    second.grewTo(100);
    expect([first.mayGrow(), second.mayGrow()]).toEqual([true, false]);
    first.waits();
    expect([first.mayGrow(), second.mayGrow()]).toEqual([false, true]);
    second.isWhole(100);
    second.release();
    first.grewTo(400);
    expect(first.mayGrow()).toBe(true);
  });

  it('lets none go on beyond the share while one is complete, though another was given up before it was', () => {
    const memory = new SelectionMemory(900, 100);
    const [whole, givenUp, growing] = [memory.hold('a'), memory.hold('a'), memory.hold('a')];
    whole.grewTo(400);
    whole.isWhole(400);
    givenUp.grewTo(100);
    givenUp.release();
    growing.grewTo(100);
    expect(growing.mayGrow()).toBe(false);
    whole.release();
    expect(growing.mayGrow()).toBe(true);
  });

  it('counts nothing of one that was released, whatever it still does', () => {
    const memory = new SelectionMemory(300, 100);
    const held = memory.hold('a');
    held.grewTo(200);
    held.release();
    held.grewTo(250);
    held.isWhole(250);
    expect(memory.heldBytes).toBe(0);
    expect(memory.hold('b').mayGrow()).toBe(true);
  });
});
