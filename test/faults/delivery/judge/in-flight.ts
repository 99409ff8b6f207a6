import type { Receipt } from './observations.js';
import type { Interruption, LoggedAttempt } from './observations.js';

/** An attempt has 5 s, and its record one more until it is in the log of a broker that is busy. */
export const LONGEST_UNDER_WAY_MS = 6_000;
/** What was begun before a stop, and not yet written to the socket, is written on waking; anything later is new. */
const WAKING_MS = 1_000;
/** What a process wrote before it ended is read when the receiver comes to it; they share the cores with all the others. */
const READ_LATE_MS = 1_000;
/** Times are whole milliseconds of one machine's clock. */
const CLOCK_MS = 2;

/** How a POST may have to be made again: it was received, and its outcome was not in the log, when its process fell. */
export type UnderWay =
  /** Received before its process was killed or stopped. */
  | { readonly type: 'in-flight'; readonly at: Interruption }
  /** Begun before the stop and received after the waking. */
  | { readonly type: 'woken'; readonly at: Interruption };

/** By the address of the process. */
export type InterruptionsBySource = ReadonlyMap<string, readonly Interruption[]>;

export interface LoggedAround {
  /** The record of the attempt that the POST belongs to. */
  readonly own: LoggedAttempt | undefined;
  /** The record of the attempt before. */
  readonly before: LoggedAttempt | undefined;
  /** All POSTs of the attempt. */
  readonly same: readonly Receipt[];
  /** What has explained an earlier POST of the attempt: an interruption is the cause of one repeat. */
  readonly used: ReadonlySet<Interruption>;
}

/** The POST of a record lies within the time of its attempt. */
export function liesWithin(record: LoggedAttempt | undefined, { receivedMs }: Receipt): boolean {
  if (record === undefined) return false;
  const { startedAt, durationMs } = record;
  return receivedMs >= startedAt - CLOCK_MS && receivedMs <= startedAt + durationMs + CLOCK_MS;
}

/** Where a POST of another process lies within the same time, the record is that one's: a zombie writes none. */
function isLogged(receipt: Receipt, { own, same }: LoggedAround): boolean {
  const others = same.filter(({ source }) => source !== receipt.source);
  return liesWithin(own, receipt) && !others.some((other) => liesWithin(own, other));
}

/** null: nothing had happened to the process, or the outcome was safe by then, so it must not be made again. */
export function underWayAt(
  receipt: Receipt,
  around: LoggedAround,
  interruptions: InterruptionsBySource,
): UnderWay | null {
  const { own, before, used } = around;
  for (const at of interruptions.get(receipt.source) ?? []) {
    if (used.has(at)) continue;
    if (receipt.receivedMs < at.atMs - LONGEST_UNDER_WAY_MS) continue;
    if (at.type === 'replaced' || at.type === 'cut-off') {
      // It may work on until it hears of the other, so its POSTs after the waking are not bound to the first second.
      const type = receipt.receivedMs < at.resumedMs ? 'in-flight' : 'woken';
      if (receipt.receivedMs <= at.endedMs + READ_LATE_MS && !isLogged(receipt, around)) return { type, at };
      continue;
    }
    if (own !== undefined && own.loggedMs <= at.atMs) continue;
    if (at.type === 'killed' || receipt.receivedMs < at.resumedMs) return { type: 'in-flight', at };
    const wasDue = receipt.attempt === 1 || (before?.nextDueAt ?? Infinity) <= at.atMs;
    if (wasDue && receipt.receivedMs <= at.resumedMs + WAKING_MS) return { type: 'woken', at };
  }
  return null;
}
