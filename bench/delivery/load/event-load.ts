import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import { NumberTable } from '../workers/number-table.js';
import type { EventWriter } from './event-writer.js';
import { type LoadChange, type LoadPlan, type LoadResult, SENT, SENT_WIDTH } from './messages.js';

const MOST_IN_STEP = 1_000;
const MOST_WRITES = 8;
const TURNS = 1_000;

/** One plan under way. */
export interface EventLoad {
  /** How many deliveries the sink has answered with 200, since `forget`. */
  readonly answered: (count: number) => void;
  retarget(change: LoadChange): void;
  stop(): void;
  /** Resolves when all is sent and acknowledged. */
  readonly done: Promise<LoadResult>;
  readonly sent: NumberTable;
}

export function startEventLoad(
  writer: EventWriter,
  plan: LoadPlan,
  { firstEvent, now }: { readonly firstEvent: number; readonly now: () => number },
): EventLoad {
  const { targets, records = 'events' } = plan;
  const { topic = (records === 'pings' ? topics.telemetryPings : topics.fleetEvents).name } = plan;
  const sent = NumberTable.empty(SENT_WIDTH);
  let turns = turnTable(
    targets.map(({ weight }) => weight),
    TURNS,
  );
  const writes = new Set<Promise<void>>();
  const startedMs = now();
  const amount = createAmount(plan.amount, startedMs);
  let stopped = false;

  function write(count: number, sentMs: number): void {
    const first = sent.rows;
    const events = Array.from({ length: count }, (_, index) => {
      const position = turns[(first + index) % TURNS] ?? 0;
      const target = targets[position];
      if (target === undefined) throw new Error('The plan has no targets.');
      sent.append(position, sentMs, NaN);
      return { number: firstEvent + first + index, target };
    });
    const writing = writer.write(events, { topic, records, sentMs }).then((times) => {
      for (const [index, time] of times.entries()) sent.set(first + index, SENT.committedMs, time);
    });
    writes.add(writing);
    void writing.finally(() => writes.delete(writing)).catch(() => undefined);
  }

  async function run(): Promise<LoadResult> {
    while (!stopped) {
      const nowMs = now();
      const count = amount.wanted(nowMs, sent.rows);
      if (count === null) break;
      if (count >= 1) write(Math.min(Math.floor(count), MOST_IN_STEP), nowMs);
      if (writes.size >= MOST_WRITES) await Promise.race(writes);
      else await sleep(amount.stepMs);
    }
    await Promise.all(writes);
    return { firstEvent, events: sent.rows, seconds: (now() - startedMs) / 1_000, behindMs: amount.behindMs() };
  }

  const done = run();
  done.catch(() => undefined);
  return {
    answered: amount.answered,
    done,
    sent,
    retarget: ({ perSecond, weights }) => {
      turns = turnTable(weights, TURNS);
      amount.pace(perSecond, now(), sent.rows);
    },
    stop: () => {
      stopped = true;
    },
  };
}

/** How much is to be sent by when. */
export interface Amount {
  /** Events to send now, which may be 0 or less; null: that was all. */
  wanted(nowMs: number, sent: number): number | null;
  readonly answered: (count: number) => void;
  /** From now on another rate. */
  pace(perSecond: number, nowMs: number, sent: number): void;
  /** How far the sending was behind at worst. */
  readonly behindMs: () => number;
  readonly stepMs: number;
}

/** Small, as latency is measured from each event's commit; without a rate, in batches that cost little. */
const STEP_MS = { rate: 5, closed: 25, flood: 0 } as const;

export function createAmount(plan: LoadPlan['amount'], startedMs: number): Amount {
  const stepMs = STEP_MS[plan.type];
  let answeredCount = 0;
  let answeredBefore: number | null = null;
  let behindMs = 0;
  let pace = { perSecond: plan.type === 'rate' ? plan.perSecond : NaN, sinceMs: startedMs, sentBefore: 0 };

  function wanted(nowMs: number, sent: number): number | null {
    switch (plan.type) {
      case 'rate': {
        const left = plan.events - sent;
        const { perSecond, sinceMs, sentBefore } = pace;
        const due = Math.min(left, Math.floor(((nowMs - sinceMs) * perSecond) / 1_000) + sentBefore - sent);
        behindMs = Math.max(behindMs, (due / perSecond) * 1_000 - stepMs);
        return left <= 0 ? null : due;
      }
      case 'closed': {
        const delivered = (answeredCount - (answeredBefore ?? answeredCount)) / plan.deliveriesPerEvent;
        return plan.underWay - (sent - delivered);
      }
      case 'flood':
        return sent >= plan.events ? null : plan.events - sent;
    }
  }

  return {
    wanted,
    stepMs,
    behindMs: () => behindMs,
    pace: (perSecond, nowMs, sent) => {
      pace = { perSecond, sinceMs: nowMs, sentBefore: sent };
    },
    answered: (count) => {
      answeredBefore ??= count;
      answeredCount = count;
    },
  };
}

/**
 * An order in which every target comes up in proportion to its weight and evenly spread: at a weight of 20 in 100 it is
 * every fifth, not the first fifth. Repeats after its end.
 */
export function turnTable(weights: readonly number[], length: number): Uint16Array {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!(sum > 0)) throw new RangeError('The weights must come to more than 0.');
  const credit = weights.map(() => 0);
  return Uint16Array.from({ length }, () => {
    let richest = 0;
    for (const [index, weight] of weights.entries()) {
      credit[index] = (credit[index] ?? 0) + weight;
      if ((credit[index] ?? 0) > (credit[richest] ?? 0)) richest = index;
    }
    credit[richest] = (credit[richest] ?? 0) - sum;
    return richest;
  });
}
