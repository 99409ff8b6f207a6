import type { ApiLogger } from '../dependencies.js';

/** So long without a failure, and the next one is another outage. */
const QUIET_MS = 30_000;

export interface OutageLog {
  /** A request could not be answered because something that it needs is away. */
  failed(request: { readonly method: string; readonly path: string }, reason: unknown): void;
}

/** One line for each outage, with no stack: hundreds of requests a second fail for the same reason. */
export function createOutageLog(logger: ApiLogger, now: () => number): OutageLog {
  let lastFailureMs = Number.NEGATIVE_INFINITY;
  return {
    failed({ method, path }, reason) {
      const nowMs = now();
      const isNew = nowMs - lastFailureMs > QUIET_MS;
      lastFailureMs = nowMs;
      if (isNew) logger.error('requests_unavailable', { status: 503, method, path, reason: messageOf(reason) });
    },
  };
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several addresses of one host, none of which answered.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error.message;
}
