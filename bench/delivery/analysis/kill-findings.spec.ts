import { describe, expect, it } from '@jest/globals';
import type { Delivery, Receipt } from './deliveries.js';
import { killFindings } from './kill-findings.js';

function receipt(receivedMs: number, status: number, attempt = 1): Receipt {
  return {
    attempt,
    status,
    receivedMs,
    idHead: 1,
  };
}

function delivery(event: number, endpoint: number, ...receipts: readonly Receipt[]): Delivery {
  return {
    event,
    endpoint,
    committedMs: 0,
    receipts,
  };
}

const KILLS = [1_000, 5_000];
const FAILING = 90;

function find(deliveries: readonly Delivery[], logged: Parameters<typeof killFindings>[0]['logged'] = []) {
  return killFindings({ deliveries, logged, isFailing: (endpoint) => endpoint >= FAILING, killedMs: KILLS });
}

describe('killFindings', () => {
  it('counts deliveries that were never answered with 200 as lost', () => {
    const found = find([
      delivery(1, 1, receipt(10, 200)),
      delivery(2, 1),
      delivery(3, 1, receipt(10, 0)),
      delivery(4, 1, receipt(900, 0), receipt(2_000, 200)),
    ]);
    expect([found.accepted, found.lost]).toEqual([4, 2]);
  });

  it('counts second answers by the kill that they follow', () => {
    const found = find([
      delivery(1, 1, receipt(990, 200), receipt(2_000, 200)),
      delivery(2, 1, receipt(4_990, 200), receipt(6_000, 200)),
      delivery(3, 1, receipt(4_990, 200), receipt(6_000, 200), receipt(6_100, 200)),
      delivery(4, 1, receipt(4_990, 0), receipt(6_000, 200)),
    ]);
    expect(found.answeredTwice).toEqual([1, 3]);
  });

  it('takes the time from a kill to the return of what had no answer then', () => {
    const found = find([
      delivery(1, 1, receipt(990, 0), receipt(3_000, 200)),
      delivery(2, 1, receipt(4_990, 0), receipt(5_800, 200)),
      delivery(3, 1, receipt(4_000, 200)),
      delivery(4, 1, receipt(4_999, 0)),
    ]);
    expect(found.inFlight).toEqual([1, 2]);
    expect([found.againAfterMs.count, found.againAfterMs.p50, found.againAfterMs.most]).toEqual([2, 800, 2_000]);
    expect(found.neverAgain).toBe(1);
  });

  it('takes the lateness of retries whose wait began before a kill and ended after it', () => {
    const logged = [
      { event: 1, endpoint: 95, attempt: 1, dueMs: 900, startedMs: 900 },
      { event: 1, endpoint: 95, attempt: 2, dueMs: 1_500, startedMs: 2_100 },
      { event: 1, endpoint: 95, attempt: 3, dueMs: 4_000, startedMs: 4_007 },
    ];
    const { latenessAcrossMs } = find([], logged);
    expect([latenessAcrossMs.count, latenessAcrossMs.most]).toEqual([1, 600]);
  });

  it('distinguishes repeats of an attempt from gaps in the attempt numbers', () => {
    const five = [1, 2, 3, 4, 5].map((attempt) => receipt(attempt, 503, attempt));
    const { failing } = find([
      delivery(1, 95, ...five),
      delivery(2, 95, receipt(0, 503, 1), ...five),
      delivery(3, 95, ...five.slice(1)),
      delivery(4, 95, receipt(0, 503, 1), ...five.slice(0, 4)),
    ]);
    expect(failing).toEqual({ deliveries: 4, wrongCounts: 2, wrongNumbers: 2, changedIds: 0 });
  });
});
