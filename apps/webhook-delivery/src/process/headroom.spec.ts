import { describe, expect, it } from '@jest/globals';
import { Headroom, PacedWork } from './headroom.js';

function build() {
  let monotonicMs = 0;
  const headroom = new Headroom(() => monotonicMs);
  const pass = (ms: number): void => {
    monotonicMs += ms;
  };
  return { headroom, pass, monotonicMs: () => monotonicMs };
}

describe('Headroom', () => {
  it('is all of the time as long as retries start within 10 ms of their due time', () => {
    const { headroom, pass } = build();
    for (let n = 0; n < 100; n++) {
      headroom.retryStarted(10);
      pass(50);
    }
    expect(headroom.share()).toBe(1);
  });

  it('is halved by a late retry, once for all that are late together, down to an eighth', () => {
    const { headroom, pass } = build();
    for (let n = 0; n < 50; n++) headroom.retryStarted(11);
    expect(headroom.share()).toBe(0.5);
    for (let n = 0; n < 10; n++) {
      pass(100);
      headroom.retryStarted(500);
    }
    expect(headroom.share()).toBe(1 / 8);
  });

  it('is regained within seconds', () => {
    const { headroom, pass } = build();
    headroom.retryStarted(11);
    pass(1_000);
    expect(headroom.share()).toBe(0.75);
    pass(1_000);
    expect(headroom.share()).toBe(1);
  });
});

describe('PacedWork', () => {
  it('rests in proportion to its work, and adds rests up that are too short for a timer', () => {
    const { pass, monotonicMs } = build();
    const paced = new PacedWork(monotonicMs, () => 0.25);
    paced.run(() => {
      pass(1);
    });
    expect(paced.restMs()).toBe(0);
    paced.run(() => {
      pass(1);
    });
    expect(paced.restMs()).toBe(5);
    pass(5);
    expect(paced.restMs()).toBe(0);
  });

  it('rests for less than a second after a piece of work in which the process was paused for minutes', () => {
    const { pass, monotonicMs } = build();
    const paced = new PacedWork(monotonicMs, () => 1 / 16);
    paced.run(() => {
      pass(300_000);
    });
    expect(paced.restMs()).toBeGreaterThan(0);
    expect(paced.restMs()).toBeLessThan(1_000);
  });

  it('never rests when it may take all of the time', () => {
    const { pass, monotonicMs } = build();
    const paced = new PacedWork(monotonicMs, () => 1);
    paced.run(() => {
      pass(100);
    });
    expect(paced.restMs()).toBe(0);
  });
});
