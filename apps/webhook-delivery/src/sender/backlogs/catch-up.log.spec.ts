import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StreamsError } from '@waypost/streams';
import { flushed } from '../../../../../test/support/until.js';
import { PassHarness, type PassReading } from '../testing/pass-harness.js';
import type { SubscriptionBacklog } from './subscription-backlog.js';

const IDS = ['a', 'b', 'c'];
/** Long enough for passes that skip what none of them needs. */
const LOG_RECORDS = 6_000;
/** Near the start of the log, in its middle and at its end. */
const PLACES = [0, 3_000, LOG_RECORDS - 40];

const deliveries = fc.array(fc.record({ id: fc.constantFrom(...IDS), place: fc.nat(2), at: fc.nat(19) }), {
  minLength: 30,
  maxLength: 90,
});

const anId = fc.constantFrom(...IDS);
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('respond' as const), records: fc.constantFrom(2, 5, 700) }) },
    {
      weight: 6,
      arbitrary: fc.record({ does: fc.constant('finish' as const), id: anId, deliveries: fc.constantFrom(1, 3) }),
    },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('putBack' as const), id: anId }) },
    {
      weight: 2,
      arbitrary: fc.record({ does: fc.constant('readOn' as const), records: fc.constantFrom(2, 30, 3_000) }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('wait' as const) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('breakOff' as const) }) },
  ),
  { minLength: 20, maxLength: 80 },
);

type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

/** A log of a partition, its reader, and passes that follow it. */
class Reading {
  readonly harness = new PassHarness();
  private answered = 0;

  constructor(private readonly log: readonly string[]) {}

  async step(step: Step): Promise<void> {
    switch (step.does) {
      case 'respond':
        await this.respond(step.records);
        break;
      case 'finish':
        for (let n = 0; n < step.deliveries; n++) this.harness.finish(this.backlog(step.id));
        break;
      case 'putBack':
        this.putBack(this.backlog(step.id));
        break;
      case 'readOn':
        this.readOn(step.records);
        break;
      case 'breakOff':
        await this.answer(() => new StreamsError('OFFSET_OUT_OF_RANGE', 'It is gone.'));
        break;
      case 'wait':
        this.harness.atMs += 1_000;
        this.harness.catchUp.kick();
    }
  }

  /** Until the reader is at the end of the log and nothing is parked. */
  async toTheEnd(): Promise<void> {
    const { backlogs, catchUp } = this.harness;
    this.readOn(LOG_RECORDS);
    for (let turns = 0; turns < 200 && backlogs.parked.size > 0; turns++) {
      for (const id of IDS) this.harness.finish(this.backlog(id));
      catchUp.kick();
      await this.respond(LOG_RECORDS);
    }
  }

  private respond(records: number): Promise<void> {
    return this.answer(({ at }) => ({ from: at, of: this.log.slice(at, at + records) }));
  }

  /** The broker answers the pass, if there is one. */
  private async answer(how: (reading: PassReading) => Parameters<PassReading['answers']>[0]): Promise<void> {
    await flushed();
    const reading = this.harness.readings[this.answered];
    if (!reading) return;
    this.answered++;
    await reading.answers(how(reading));
  }

  private readOn(records: number): void {
    const { backlogs } = this.harness;
    for (const end = Math.min(backlogs.position + records, LOG_RECORDS); backlogs.position < end; backlogs.position++) {
      const id = this.log[backlogs.position] ?? '';
      if (IDS.includes(id)) this.offer(this.backlog(id), backlogs.position);
    }
  }

  private offer(backlog: SubscriptionBacklog, offset: number): void {
    if (!this.harness.backlogs.offer(backlog, offset)) return;
    (this.harness.taken[backlog.subscriptionId] ??= []).push(offset);
    this.harness.admit(backlog, offset);
  }

  /** As a hold does that has ended since: all but the first delivery in memory are only in the log again. */
  private putBack(backlog: SubscriptionBacklog): void {
    const { backlogs, catchUp, taken } = this.harness;
    const [first] = backlogs.withdrawAllButFirst(backlog);
    if (!first) return;
    catchUp.leaveOut(backlog);
    backlogs.park(backlog, first.offset);
    taken[backlog.subscriptionId] = this.takenOf(backlog).filter((offset) => offset < first.offset);
  }

  takenOf({ subscriptionId }: SubscriptionBacklog): number[] {
    return this.harness.taken[subscriptionId] ?? [];
  }

  backlog(id: string): SubscriptionBacklog {
    return this.harness.backlogs.backlog(id);
  }
}

describe('passes over the log, whatever happens to its subscriptions meanwhile (R-25, R-26)', () => {
  it('take in every delivery once and in order, with what the reader takes in', async () => {
    await fc.assert(
      fc.asyncProperty(deliveries, steps, async (placed, plan) => {
        const log = Array.from({ length: LOG_RECORDS }, () => 'other');
        for (const { id, place, at } of placed) log[(PLACES[place] ?? 0) + at] = id;
        const reading = new Reading(log);
        for (const step of plan) await reading.step(step);
        await reading.toTheEnd();
        for (const id of IDS) {
          const offsets = log.flatMap((one, offset) => (one === id ? offset : []));
          expect(reading.takenOf(reading.backlog(id))).toEqual(offsets);
        }
        await reading.harness.catchUp.close();
        expect([reading.harness.failures, reading.harness.openFeeds]).toEqual([[], 0]);
      }),
      // A smaller example takes longer to find than a test may.
      { endOnFailure: true },
    );
  });
});
