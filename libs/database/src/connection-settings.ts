import { SteadyClient } from './steady-client.js';

export interface ConnectionSettings {
  /** Connections kept at most; the default of 4 suits a process that does one thing at a time. */
  readonly poolSize?: number;
  /** A query that runs longer is cancelled by the server; one whose server says nothing any more fails soon after. None by default. */
  readonly statementTimeoutMs?: number;
  /** How long one attempt to connect may last. Default 5,000. */
  readonly connectTimeoutMs?: number;
}

const DEFAULT_POOL_SIZE = 4;
const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
/** The server's own refusal comes first when there is a server. */
const BEYOND_STATEMENT_TIMEOUT_MS = 2_000;
/** Firewalls forget what is quiet, and say nothing of it; the system's own first question would come after two hours. */
const QUIET_BEFORE_PROBE_MS = 10_000;

export const poolSizeOf = ({ poolSize }: ConnectionSettings): number => poolSize ?? DEFAULT_POOL_SIZE;

export const connectTimeoutOf = ({ connectTimeoutMs }: ConnectionSettings): number =>
  connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;

/** What pg gets of them, whichever pool it is. */
export function connectionOptions({ statementTimeoutMs }: ConnectionSettings) {
  const limits =
    statementTimeoutMs === undefined
      ? {}
      : { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + BEYOND_STATEMENT_TIMEOUT_MS };
  return { Client: SteadyClient, keepAlive: true, keepAliveInitialDelayMillis: QUIET_BEFORE_PROBE_MS, ...limits };
}
