import type { AttemptEntry } from '@waypost/domain';

/**
 * An attempt as the `attempts` column holds it: values by position, because names would take more room than they do.
 * SQL relies on the number being first. A new field goes to the end.
 */
type PackedAttempt = readonly [
  attempt: number,
  startedAt: number,
  dueAt: number,
  durationMs: number,
  statusCode: number | null,
  errorCode: string | null,
  outcome: string,
  decision: string,
];

/** The JSON text of some attempts: `[[1,...],[2,...]]`. Continuing a delivery puts two of these together. */
export const packedText = (attempts: readonly AttemptEntry[]): string => JSON.stringify(attempts.map(pack));

/** @param text as the column holds it */
export const unpackAttempts = (text: string): AttemptEntry[] => (JSON.parse(text) as PackedAttempt[]).map(unpack);

function pack(entry: AttemptEntry): PackedAttempt {
  const { attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision } = entry;
  return [attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision];
}

function unpack(packed: PackedAttempt): AttemptEntry {
  const [attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision] = packed;
  return { attempt, startedAt, dueAt, durationMs, statusCode, errorCode, outcome, decision };
}
