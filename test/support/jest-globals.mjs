/**
 * What `@jest/globals` is under jest-light-runner, which brings Jest's functions as globals, without limits of time and
 * without the newer half of its timers.
 */
import { ModernFakeTimers } from '@jest/fake-timers';
import { bind } from 'jest-each';

const { describe, expect } = globalThis;
const { setTimeout, clearTimeout } = globalThis;
let limitMs = 60_000;

const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
const timerFunctions = Object.fromEntries(
  Object.getOwnPropertyNames(ModernFakeTimers.prototype)
    .filter((name) => name !== 'constructor' && !name.startsWith('_'))
    .map((name) => [name, timers[name].bind(timers)]),
);

export const jest = {
  ...globalThis.jest,
  ...timerFunctions,
  setTimeout(ms) {
    limitMs = ms;
  },
};

function within(work, givenMs) {
  return async () => {
    const ms = givenMs ?? limitMs;
    // A test that failed may have left its count of assertions.
    expect.extractExpectedAssertionsErrors();
    let timer;
    const stuck = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`It has not ended within ${ms} ms.`)), ms);
    });
    try {
      await Promise.race([work(), stuck]);
      for (const { error } of expect.extractExpectedAssertionsErrors()) throw error;
    } finally {
      clearTimeout(timer);
    }
  };
}

const limitedTest = (define) => {
  const limited = (title, work, givenMs) => define(title, within(work, givenMs));
  return Object.assign(limited, { each: bind(limited) });
};
const limitedHook = (define) => (work, givenMs) => define(within(work, givenMs));

export const it = Object.assign(limitedTest(globalThis.it), {
  only: limitedTest(globalThis.it.only),
  skip: limitedTest(globalThis.it.skip),
});
export const test = it;
export const beforeAll = limitedHook(globalThis.beforeAll);
export const beforeEach = limitedHook(globalThis.beforeEach);
export const afterAll = limitedHook(globalThis.afterAll);
export const afterEach = limitedHook(globalThis.afterEach);
export { describe, expect };
