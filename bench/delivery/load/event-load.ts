import { setTimeout as sleep } from 'node:timers/promises';
import { topics } from '@waypost/contracts';
import { NumberTable } from '../workers/number-table.js';
import { createAmount } from './amount.js';
import type { EventWriter } from './event-writer.js';
import { SENT, SENT_WIDTH, type LoadPlan, type LoadResult } from './messages.js';
import { turnTable } from './turn-table.js';

const MOST_IN_STEP = 1_000;
const MOST_WRITES = 8;
const TURNS = 1_000;

/** One plan under way. */
export interface EventLoad {
  /** How many deliveries the sink has answered with 200, since it was last told to forget. */
  readonly answered: (count: number) => void;
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
  const { targets, topic = topics.fleetEvents.name } = plan;
  const sent = NumberTable.empty(SENT_WIDTH);
  const turns = turnTable(
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
    const writing = writer.write(events, topic, sentMs).then((times) => {
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
    ...{ answered: amount.answered, done, sent },
    stop: () => {
      stopped = true;
    },
  };
}
