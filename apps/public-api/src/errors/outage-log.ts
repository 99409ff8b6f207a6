import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, LOGGER, type Logger } from '@waypost/platform';

/** A failure after this long without one is a new outage. */
const NEW_OUTAGE_AFTER_MS = 30_000;

/** One line per outage, without a stack: hundreds of requests per second fail for the same reason. */
@Injectable()
export class OutageLog {
  private lastFailureMs = Number.NEGATIVE_INFINITY;

  constructor(
    @Inject(LOGGER) private readonly logger: Pick<Logger, 'error'>,
    @Inject(CLOCK) private readonly nowMs: () => number,
  ) {}

  /** A request was answered with 503 because something that it needs is unavailable. */
  failed({ method, path }: { readonly method: string; readonly path: string }, reason: unknown): void {
    const nowMs = this.nowMs();
    const isNew = nowMs - this.lastFailureMs > NEW_OUTAGE_AFTER_MS;
    this.lastFailureMs = nowMs;
    if (isNew) this.logger.error('requests_unavailable', { status: 503, method, path, reason: messageOf(reason) });
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Several addresses of one host, none of which responded.
  if (error.message === '' && error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error.message;
}
