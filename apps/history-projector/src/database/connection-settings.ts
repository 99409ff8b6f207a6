/** One transaction per log, those waiting for their commits, and the lookups of four partitions of the three logs. */
export const POOL_SIZE = 14;

/** The name in pg_stat_activity. */
export const APPLICATION_NAME = 'waypost history-projector';

/** No batch and no day of a table takes this long; a slower statement is repeated, and logged. */
export const STATEMENT_TIMEOUT_MS = 60_000;

/** A process stopped in a transaction must not block the next owner of its partition for longer. */
export const IDLE_IN_TRANSACTION_MS = 10_000;
