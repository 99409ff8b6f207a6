import { createHash } from 'node:crypto';

/** What is wrong with a log of events, given what the rules make of the pings. */
export interface EventFindings {
  readonly recomputed: number;
  readonly logged: number;
  readonly missing: readonly string[];
  /** In the log, and the rules make no such event. */
  readonly unexpected: readonly string[];
  /** In the log more often than the rules make them. */
  readonly repeated: readonly string[];
}

interface Entry {
  readonly name: string;
  /** Of pings in the range that is verified; others only explain what is found. */
  readonly inRange: boolean;
  expected: number;
  found: number;
}

/** Holds recomputed and logged events against each other, to the last field. */
export interface EventLedger {
  /** @param encoded the value as it would be written */
  recomputed(partition: number, encoded: Buffer, name: string, inRange: boolean): void;
  /**
   * After all of `recomputed`.
   * @param isSettled false: its ping may have been processed after the pings were read
   */
  logged(partition: number, encoded: Buffer, name: string, isSettled: boolean): void;
  findings(): EventFindings;
}

export function createEventLedger(): EventLedger {
  const entries = new Map<string, Entry>();
  const unexpected: string[] = [];
  let logged = 0;
  const keyOf = (partition: number, encoded: Buffer): string =>
    `${String(partition)}/${createHash('sha1').update(encoded).digest('base64')}`;

  return {
    recomputed(partition, encoded, name, inRange) {
      const key = keyOf(partition, encoded);
      const entry = entries.get(key) ?? { name, inRange, expected: 0, found: 0 };
      entry.expected += 1;
      entries.set(key, entry);
    },
    logged(partition, encoded, name, isSettled) {
      const entry = entries.get(keyOf(partition, encoded));
      if (entry === undefined && !isSettled) return;
      if (entry === undefined) unexpected.push(name);
      else entry.found += 1;
      if (entry?.inRange !== false) logged += 1;
    },
    findings() {
      const inRange = [...entries.values()].filter((entry) => entry.inRange);
      return {
        recomputed: inRange.reduce((sum, { expected }) => sum + expected, 0),
        logged,
        missing: inRange.filter(({ expected, found }) => found < expected).map(({ name }) => name),
        unexpected,
        repeated: inRange.filter(({ expected, found }) => found > expected).map(({ name }) => name),
      };
    },
  };
}
