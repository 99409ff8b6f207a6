import { beforeEach, describe, expect, it } from '@jest/globals';
import { judgeDeliveries } from './judge-deliveries.js';
import type { Interruption } from './observations.js';
import {
  change,
  DURATION_MS,
  type ObservedRun,
  observedRun,
  one,
  OTHER_SENDER,
  receivedAt,
  SENDER,
} from './testing/observed-run.js';

const REPEATED_AFTER_MS = 9_000;

let run: ObservedRun;
/** When the attempt of the only delivery was received first. */
let receivedMs: number;
beforeEach(() => {
  run = observedRun(['slow']);
  receivedMs = one(run.receipts, () => true).receivedMs;
});

/** The other process makes the attempt again and logs it; the first POST never gets a record. */
function repeatByOther(status: number | null = 200): void {
  const [first] = run.receipts;
  if (first === undefined) throw new Error('No receipt.');
  const again = receivedMs + REPEATED_AFTER_MS;
  run.receipts = [
    { ...first, status },
    { ...first, source: OTHER_SENDER, ...receivedAt(again) },
  ];
  change(run.attempts, () => true, { startedAt: again - 1, firstAttemptAt: again - 1, loggedMs: again + DURATION_MS });
}

function killedAt(atMs: number, source = SENDER): Interruption {
  return { type: 'killed', source, atMs };
}
function pausedAt(atMs: number, source = SENDER): Interruption {
  return {
    type: 'paused',
    source,
    atMs,
    resumedMs: atMs + 12_000,
  };
}
const WITHOUT_CAUSE = [expect.stringMatching(/^repeat without a cause by .* \(1\)/)];

describe('a repeat at the receiver', () => {
  it.each([
    ['answered', 200],
    ['not answered', null],
  ])('is the due of a kill while its attempt was in flight (%s)', (_, status) => {
    repeatByOther(status);
    run.interruptions = [killedAt(receivedMs + 20)];
    expect(judgeDeliveries(run)).toMatchObject({ problems: [], repeats: 1, inFlight: 1, woken: 0 });
  });

  it('is the due of a stop while its attempt was in flight', () => {
    repeatByOther();
    run.interruptions = [pausedAt(receivedMs + 20)];
    expect(judgeDeliveries(run)).toMatchObject({ problems: [], repeats: 1, inFlight: 1 });
  });

  it('is not excused by the kill of another process', () => {
    repeatByOther();
    run.interruptions = [killedAt(receivedMs + 20, '127.22.0.1')];
    expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
  });

  it('is not excused when the outcome was in the log before the kill', () => {
    repeatByOther();
    change(run.attempts, () => true, {
      startedAt: receivedMs - 1,
      firstAttemptAt: receivedMs - 1,
      loggedMs: receivedMs + 310,
    });
    run.interruptions = [killedAt(receivedMs + 320)];
    expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
  });

  it('is not excused by a kill long after the attempt must have been logged', () => {
    repeatByOther();
    change(run.receipts, ({ source }) => source === OTHER_SENDER, { ...receivedAt(receivedMs + 40_000) });
    change(run.attempts, () => true, {
      startedAt: receivedMs + 39_999,
      firstAttemptAt: receivedMs + 39_999,
      loggedMs: receivedMs + 40_300,
    });
    run.interruptions = [killedAt(receivedMs + 30_000)];
    expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
  });

  it('needs one kill for each further repeat', () => {
    repeatByOther();
    const third = '127.22.0.1';
    const again = receivedMs + 2 * REPEATED_AFTER_MS;
    run.receipts.push({ ...one(run.receipts, () => true), source: third, ...receivedAt(again) });
    change(run.attempts, () => true, {
      startedAt: again - 1,
      firstAttemptAt: again - 1,
      loggedMs: again + DURATION_MS,
    });
    run.interruptions = [killedAt(receivedMs + 20)];
    expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
    run.interruptions.push(killedAt(receivedMs + REPEATED_AFTER_MS + 20, OTHER_SENDER));
    expect(judgeDeliveries(run)).toMatchObject({
      problems: [],
      repeats: 2,
      inFlight: 2,
      inFlightAtWorst: 1,
      acceptedTwice: 1,
    });
  });

  it('has a cause once for each interruption of its process, whatever that was', () => {
    repeatByOther();
    run.receipts.unshift({ ...one(run.receipts, () => true) });
    const cutOff: Interruption = {
      type: 'cut-off',
      source: SENDER,
      atMs: receivedMs - 20,
      resumedMs: receivedMs + 500,
      endedMs: receivedMs + 12_500,
    };
    for (const interruption of [killedAt(receivedMs + 20), pausedAt(receivedMs + 20), cutOff]) {
      run.interruptions = [interruption];
      expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
      run.interruptions.push({ ...cutOff, endedMs: receivedMs + 600 });
      expect(judgeDeliveries(run)).toMatchObject({ problems: [], repeats: 2, inFlight: 2 });
    }
  });

  it('may not carry other bytes, whatever has happened', () => {
    repeatByOther();
    run.interruptions = [killedAt(receivedMs + 20)];
    change(run.receipts, ({ source }) => source === OTHER_SENDER, { bodyHash: 'other' });
    expect(judgeDeliveries(run).problems).toEqual([expect.stringMatching(/^POST with other bytes \(1\)/)]);
  });
});

describe('an attempt that arrives after the next one', () => {
  it.each([
    ['timeout', []],
    ['connection_reset', [expect.stringMatching(/^attempt number that goes backward \(1\)/)]],
  ])('is excused where the sender had given it up as too slow: %s', (errorCode, expected) => {
    run = observedRun(['first-503']);
    const [first, second] = run.receipts;
    if (first === undefined || second === undefined) throw new Error('Two receipts were expected.');
    run.receipts = [second, { ...first, ...receivedAt(second.receivedMs + 20), status: null }];
    change(run.attempts, ({ attempt }) => attempt === 1, { statusCode: null, errorCode, durationMs: 5_000 });
    expect(judgeDeliveries(run).problems.filter((line) => line.includes('backward'))).toEqual(expected);
  });
});

describe('a process that wakes up', () => {
  /** The second attempt of a first-503 endpoint was logged by the other; the sleeper wakes up and POSTs the first again. */
  function wakeUp(afterWakingMs: number): void {
    run = observedRun(['first-503']);
    const [first, second] = run.receipts;
    if (first === undefined || second === undefined) throw new Error('Two receipts were expected.');
    const pause = pausedAt(first.receivedMs - 2);
    const resumedMs = pause.atMs + 12_000;
    run.interruptions = [pause];
    run.receipts = [
      { ...first, source: OTHER_SENDER },
      { ...second, source: OTHER_SENDER },
      { ...first, ...receivedAt(resumedMs + afterWakingMs) },
    ];
  }

  it('may write a POST that it had begun, also when another has moved on', () => {
    wakeUp(30);
    expect(judgeDeliveries(run)).toMatchObject({ problems: [], repeats: 1, inFlight: 0, woken: 1 });
  });

  it('may end what was in flight, but not begin an attempt', () => {
    wakeUp(5_000);
    const problems = judgeDeliveries(run).problems.map((line) => line.replace(/( by .*)? \(\d+\): .*/, ''));
    expect(problems).toEqual(['attempt number that goes backward', 'repeat without a cause']);
  });

  it('may not POST deliveries that were not due when it was stopped', () => {
    run = observedRun(['first-503']);
    const second = one(run.receipts, ({ attempt }) => attempt === 2);
    const pause = pausedAt(second.receivedMs - 500);
    run.interruptions = [pause];
    run.receipts.push({ ...second, source: SENDER, ...receivedAt(pause.atMs + 12_030) });
    change(run.receipts, (item) => item === second, { source: OTHER_SENDER });
    expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
  });

  it('is excused until another has taken its name, of POSTs without a record of their own', () => {
    repeatByOther();
    const replaced = {
      type: 'replaced',
      source: SENDER,
      atMs: receivedMs - 4_000,
      resumedMs: receivedMs - 1_000,
    } as const;
    run.interruptions = [{ ...replaced, endedMs: receivedMs + 500 }];
    expect(judgeDeliveries(run)).toMatchObject({ problems: [], repeats: 1, woken: 1 });
    // Read by the receiver when its process is gone.
    run.interruptions = [{ ...replaced, endedMs: receivedMs - 500 }];
    expect(judgeDeliveries(run)).toMatchObject({ problems: [], repeats: 1, woken: 1 });
    run.interruptions = [{ ...replaced, resumedMs: receivedMs - 2_000, endedMs: receivedMs - 1_500 }];
    expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
    run.interruptions = [{ ...replaced, endedMs: receivedMs + 500 }];
    change(run.attempts, () => true, {
      startedAt: receivedMs - 1,
      firstAttemptAt: receivedMs - 1,
      loggedMs: receivedMs + 310,
    });
    expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
  });

  it('may have made a POST while its successor made and logged the same attempt', () => {
    const [first] = run.receipts;
    if (first === undefined) throw new Error('No receipt.');
    run.receipts = [
      { ...first, source: OTHER_SENDER },
      { ...first, ...receivedAt(receivedMs + 150), status: null },
    ];
    const replaced = {
      type: 'replaced',
      source: SENDER,
      atMs: receivedMs - 3_000,
      resumedMs: receivedMs + 100,
    } as const;
    run.interruptions = [{ ...replaced, endedMs: receivedMs + 400 }];
    expect(judgeDeliveries(run)).toMatchObject({ problems: [], repeats: 1, woken: 1 });
    run.interruptions = [{ ...replaced, resumedMs: receivedMs - 2_000, endedMs: receivedMs - 1_500 }];
    expect(judgeDeliveries(run).problems).toEqual(WITHOUT_CAUSE);
  });

  it('may not write to the log', () => {
    repeatByOther();
    run.interruptions = [pausedAt(receivedMs + 20)];
    run.attempts.push(one(run.attempts, () => true));
    expect(judgeDeliveries(run).problems).toContainEqual(expect.stringMatching(/^attempt number twice in the log/));
  });
});
