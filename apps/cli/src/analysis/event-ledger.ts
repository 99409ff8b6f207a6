import { createHash } from 'node:crypto';

/** The differences between a log of events and what the rules compute from the pings. */
export interface EventFindings {
  readonly recomputed: number;
  readonly logged: number;
  /** In the log, of devices whose state at that time is not known. */
  readonly unjudged: number;
  readonly missing: readonly string[];
  /** In the log, and the rules make no such event. */
  readonly unexpected: readonly string[];
  /** In the log more often than the rules make them. */
  readonly repeated: readonly string[];
  /** In the log, and no event. */
  readonly unreadable: readonly string[];
}

interface Entry {
  readonly name: string;
  /** Whether its ping is in the verified range; others only explain what is found. */
  readonly inRange: boolean;
  expected: number;
  found: number;
}

/** An event in the form in which it is compared. */
export interface LedgerEvent {
  readonly partition: number;
  /** The value as it would be written. */
  readonly encoded: Buffer;
  readonly name: string;
  /** false: the device's state was unknown then, so the event cannot be judged. */
  readonly isJudged: boolean;
}

/** Holds recomputed and logged events against each other, to the last field. */
export interface EventLedger {
  recomputed(event: LedgerEvent & { readonly inRange: boolean }): void;
  /**
   * After all of `recomputed`. `isSettled` is false when its ping may have been processed after the pings were read. `inRange`:
   * its record is in the verified range; one that is not can only be that of a ping in it.
   */
  logged(event: LedgerEvent & { readonly isSettled: boolean; readonly inRange: boolean }): void;
  unreadable(name: string): void;
  findings(): EventFindings;
}

export function createEventLedger(): EventLedger {
  const entries = new Map<string, Entry>();
  const unexpected: string[] = [];
  const unreadable: string[] = [];
  let logged = 0;
  let unjudged = 0;
  return {
    recomputed(event) {
      if (!event.isJudged) return;
      const key = keyOf(event);
      const entry = entries.get(key) ?? { name: event.name, inRange: event.inRange, expected: 0, found: 0 };
      entry.expected += 1;
      entries.set(key, entry);
    },
    logged(event) {
      if (!event.isJudged) {
        unjudged += Number(event.inRange);
        return;
      }
      const entry = entries.get(keyOf(event));
      if (entry === undefined && !(event.isSettled && event.inRange)) return;
      if (entry === undefined) unexpected.push(event.name);
      else entry.found += 1;
      if (entry?.inRange !== false) logged += 1;
    },
    unreadable: (name) => void unreadable.push(name),
    findings() {
      const inRange = [...entries.values()].filter((entry) => entry.inRange);
      return {
        recomputed: inRange.reduce((sum, { expected }) => sum + expected, 0),
        logged,
        unjudged,
        missing: inRange.filter(({ expected, found }) => found < expected).map(({ name }) => name),
        unexpected,
        repeated: inRange.filter(({ expected, found }) => found > expected).map(({ name }) => name),
        unreadable,
      };
    },
  };
}

function keyOf({ partition, encoded }: LedgerEvent): string {
  return `${String(partition)}/${createHash('sha1').update(encoded).digest('base64')}`;
}
