import { describe, expect, it } from '@jest/globals';
import { DELIVERY_UNSTARTED } from '@waypost/domain';
import { StateRecords } from '../recovery/state-records.js';
import { SenderHarness } from '../testing/sender-harness.js';
import { aDelivery } from '../testing/sender-samples.js';
import { DeliveryMemory } from './delivery-memory.js';
import { PartitionBacklogs } from './partition-backlogs.js';

const LIMIT_BYTES = 1_000_000;
const NOW = { epochMs: 0, monotonicMs: 0 };

function build(ofProcess = new DeliveryMemory(LIMIT_BYTES, null)): PartitionBacklogs {
  return new PartitionBacklogs({
    limits: { perSubscription: 100, slowAfterMs: Infinity },
    memory: new DeliveryMemory(LIMIT_BYTES, ofProcess),
    start: { offset: 10, foldFrom: 100 },
    begun: { upTo: 20, foldFrom: 50 },
    attemptsEnd: () => 500,
    monotonicMs: () => 0,
    isPaused: () => false,
  });
}

describe('a partition that leaves the process', () => {
  it('gives all of its memory back, that of deliveries only in the log as well (R-26)', () => {
    const ofProcess = new DeliveryMemory(LIMIT_BYTES, null);
    const { fleetId } = aDelivery(10);
    const free = ofProcess.freeFor(fleetId);
    const backlogs = build(ofProcess);
    const backlog = backlogs.backlog('a');
    for (const offset of [30, 31, 32])
      backlogs.admit({
        ...{ backlog, offset, appendedAt: 0, delivery: { ...aDelivery(offset), fleetId }, due: NOW, begun: null },
        ...{ progress: DELIVERY_UNSTARTED, traceparent: null, tracestate: null, isHeld: false },
      });
    backlogs.withdraw(backlog, 29, { progress: DELIVERY_UNSTARTED, due: NOW });
    expect(ofProcess.freeFor(fleetId)).toBeLessThan(free);

    backlogs.close();

    expect(ofProcess.freeFor(fleetId)).toBe(free);
  });
});

describe('a backlog that a predecessor had begun deliveries of', () => {
  it('is known until the reader has passed them, since their attempts tell which of them are finished (R-25)', () => {
    const backlogs = build();
    const backlog = backlogs.backlog('a');
    backlog.begunUpTo = 20;
    backlogs.position = 20;
    backlogs.forgetIfDone(backlog);
    expect(backlogs.known('a')).toBe(backlog);

    backlogs.position = 21;
    backlogs.forgetIfDone(backlog);
    expect(backlogs.known('a')).toBeUndefined();
  });
});

describe('the commit point of a partition in which nothing is unfinished (R-25)', () => {
  it('has the attempts folded from where a predecessor did, until the reader has passed all that this one had begun', () => {
    const backlogs = build();
    backlogs.position = 20;
    expect(backlogs.commitPoint()).toEqual({ offset: 20, foldFrom: 50 });
    backlogs.position = 21;
    expect(backlogs.commitPoint()).toEqual({ offset: 21, foldFrom: 500 });
  });
});

describe('a backlog that is in its normal state again', () => {
  it('is forgotten, since a process may see millions of subscriptions (R-26)', async () => {
    const { codecs } = await SenderHarness.create();
    const backlogs = build();
    const clocks = { nowMs: () => 0, monotonicMs: () => 0 };
    const states = new StateRecords({ backlogs, codecs, partition: 0, ...clocks });
    states.watch(backlogs.backlog('a'));
    expect(states.collect().records).toEqual([]);
    expect(backlogs.known('a')).toBeUndefined();
  });
});
