import type { AbortGroup } from './abort-group.js';
import { type EgressResult, errorCodeOf, errorDetailOf } from './egress-result.js';
import type { ResponseLimits, ResponseResult } from './response-reader.js';

export interface ExchangeRequest {
  /** Up to and including the empty line; latin1. */
  readonly head: string;
  readonly body: Uint8Array;
  readonly deadlineMs: number;
  readonly limits: ResponseLimits;
  readonly signal: AbortSignal | undefined;
  readonly group: AbortGroup | undefined;
}

export interface ExchangeQueue {
  leave(exchange: Exchange): void;
}

export interface ExchangeCarrier {
  /** What has been received of the response, if its status line is complete. */
  responseSoFar(): ResponseResult | undefined;
  /** Closes the connection under a settled exchange, unless the connection has finished with it. */
  cut(exchange: Exchange): void;
}

/**
 * One request and its response. Settles exactly once, by whichever of response, failure, deadline and abort comes first.
 * Once the status line is complete its code is the result, whatever happens after it.
 *
 * It first waits in a queue, then occupies a connection.
 */
export class Exchange {
  private queue: ExchangeQueue | undefined;
  private carrier: ExchangeCarrier | undefined;
  private readonly timer: NodeJS.Timeout;
  private settled = false;

  constructor(
    readonly request: ExchangeRequest,
    private readonly resolve: (result: EgressResult) => void,
  ) {
    this.timer = setTimeout(onDeadline, request.deadlineMs, this);
    request.signal?.addEventListener('abort', this, { once: true });
  }

  waitIn(queue: ExchangeQueue): void {
    this.queue = queue;
  }

  start(carrier: ExchangeCarrier): void {
    this.queue = undefined;
    this.carrier = carrier;
  }

  settle(result: EgressResult): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.timer);
    this.request.signal?.removeEventListener('abort', this);
    this.resolve(result);
  }

  fail(error: unknown): void {
    this.settle({ type: 'error', errorCode: errorCodeOf(error), detail: errorDetailOf(error) });
  }

  abort(): void {
    this.settle({ type: 'aborted' });
    this.withdraw();
  }

  /** The EventListener of the caller's signal: an object avoids a closure per exchange. */
  handleEvent(): void {
    this.abort();
  }

  expire(): void {
    const detail = `no response within ${String(this.request.deadlineMs)} ms`;
    this.settle(this.carrier?.responseSoFar() ?? { type: 'error', errorCode: 'timeout', detail });
    this.withdraw();
  }

  /** A request in flight can only be ended together with its socket; one that is still waiting is never sent. */
  private withdraw(): void {
    this.queue?.leave(this);
    this.carrier?.cut(this);
  }
}

function onDeadline(exchange: Exchange): void {
  exchange.expire();
}
