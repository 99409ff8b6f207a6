import { beforeEach, describe, expect, it } from '@jest/globals';
import { judgeDeliveries } from './judge-deliveries.js';
import type { Settings, SettingsVersion } from './observations.js';
import { BEGAN_AT, change, type ObservedRun, observedRun, SENDER } from './testing/observed-run.js';

const subscriptionId = 'subscription-0';
const url = 'http://127.0.0.1:1/hook/0';
const active: Settings = {
  ...{ status: 'active', eventType: 'position', deviceIds: null, url, ratePerSecond: null, signers: '0' },
};
/** Of a delivery that is attempted at once, and again two seconds later. */
const CHANGED_AT = BEGAN_AT + 400;

let run: ObservedRun;

function kinds(): string[] {
  return judgeDeliveries(run).problems.map((line) => line.replace(/ \(\d+\): .*/, ''));
}

/** In force some time after its first attempt, and long before its second. */
function changed(settings: Partial<Settings>, settledMs = CHANGED_AT + 100): SettingsVersion[] {
  const first = { subscriptionId, settings: active, fromMs: -Infinity, knownMs: -Infinity, settledMs: -Infinity };
  const fromMs = CHANGED_AT;
  return [first, { subscriptionId, settings: { ...active, ...settings }, fromMs, knownMs: fromMs + 1, settledMs }];
}

/** The second attempt is not made. */
function end(errorCode: string): void {
  change(run.attempts, ({ attempt }) => attempt === 2, {
    ...{ statusCode: null, errorCode, errorDetail: 'in words', decision: errorCode, outcome: 'failed' },
  });
  run.receipts = run.receipts.filter(({ attempt }) => attempt === 1);
}

describe('the judge of a delivery whose subscription is changed between two attempts', () => {
  beforeEach(() => {
    run = observedRun(['first-503']);
  });

  it('expects the second attempt at the new URL, once every process goes by it', () => {
    const moved = `${url}/moved`;
    run.versions = changed({ url: moved });
    expect(kinds()).toEqual(['attempt at a URL that has changed']);
    run.versions = changed({ url: moved }, BEGAN_AT + 10_000);
    expect(kinds()).toEqual([]);
    change(run.attempts, ({ attempt }) => attempt === 2, { url: moved });
    expect(kinds()).toEqual(['POST to another URL than in the log']);
    change(run.receipts, ({ attempt }) => attempt === 2, { path: '/hook/0/moved' });
    expect(kinds()).toEqual([]);
    run.versions = changed({ url: moved });
    expect(kinds()).toEqual([]);
  });

  it('expects the secrets that the subscription has then', () => {
    run.versions = changed({ signers: '01' });
    expect(kinds()).toEqual(['signed with other secrets than its subscription has']);
    change(run.receipts, ({ attempt }) => attempt === 2, { signers: '01' });
    expect(kinds()).toEqual([]);
  });

  it.each(['disabled', 'deleted'])('expects no request when it is %s, and the end of the delivery', (status) => {
    run.versions = changed({ status });
    expect(kinds()).toContain('attempt for a subscription that is disabled or deleted');
    end(`subscription_${status}`);
    expect(kinds()).toEqual([]);
    run.versions = changed({});
    expect(kinds()).toEqual(['attempt that is not made although its subscription wants it']);
    run.versions = [];
    expect(kinds()).toEqual(['attempt that is not made although its subscription wants it']);
  });

  it('finds a request that was made where the log says that it was not', () => {
    const { receipts } = run;
    run.versions = changed({ status: 'disabled' });
    end('subscription_disabled');
    run.receipts = receipts;
    expect(kinds()).toContain('attempt that is not made by the log, and was received');
  });

  it('excuses a process that was cut off from its broker', () => {
    const times = { atMs: CHANGED_AT - 1, resumedMs: CHANGED_AT + 1_000, endedMs: CHANGED_AT + 5_000 };
    run.interruptions = [{ type: 'cut-off', source: SENDER, ...times }];
    run.versions = changed({ signers: '01' });
    expect(kinds()).toEqual([]);
  });
});

describe('the judge of deliveries whose rate limit is changed', () => {
  beforeEach(() => {
    run = observedRun(Array.from({ length: 12 }, () => 'healthy' as const));
    run.expected = run.expected.map((one) => ({ ...one, subscriptionId, url, path: '/hook/0' }));
    run.deliveries = run.deliveries.map((one) => ({ ...one, subscriptionId, loggedMs: BEGAN_AT, createdAt: BEGAN_AT }));
    run.attempts = run.attempts.map((one) => ({ ...one, subscriptionId, url, deliveryCreatedAt: BEGAN_AT }));
    run.receipts = run.receipts.map((one) => ({ ...one, path: '/hook/0' }));
  });

  /** They start a second apart. */
  function changedFrom(before: Partial<Settings>, now: Partial<Settings>): void {
    const [first, second] = changed(now);
    run.versions = [{ ...first, settings: { ...active, ...before } } as SettingsVersion, second as SettingsVersion];
  }

  it('finds starts beyond the new one', () => {
    changedFrom({}, { ratePerSecond: 1 });
    expect(kinds()).toEqual([]);
    changedFrom({}, { ratePerSecond: 0.5 });
    expect(kinds()).toEqual(['starts beyond a rate limit that was changed']);
  });

  it('finds what goes on waiting for one that is gone', () => {
    changedFrom({ ratePerSecond: 1 }, {});
    expect(kinds()).toEqual(['late starts after a change of the rate limit']);
  });
});

describe('the judge of a replay that is cancelled', () => {
  it('finds what it writes long after that', () => {
    run = observedRun(['healthy']);
    run.expected = run.expected.map((one) => ({ ...one, replayId: 'replay-1' }));
    run.deliveries = run.deliveries.map((one) => ({ ...one, replayId: 'replay-1' }));
    run.attempts = run.attempts.map((one) => ({ ...one, replayId: 'replay-1' }));
    run.cancels = [{ replayId: 'replay-1', knownMs: BEGAN_AT - 1_000 }];
    expect(kinds()).toEqual([]);
    run.cancels = [{ replayId: 'replay-1', knownMs: BEGAN_AT - 2_000 }];
    expect(kinds()).toEqual(['delivery of a replay that was cancelled']);
  });
});
