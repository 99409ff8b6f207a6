import type { AbortGroup } from './abort-group.js';
import type { EgressResult } from './egress-result.js';
import { errorCodeOf, errorDetailOf } from './error-code.js';
import type { ResponseLimits, ResponseResult } from './response-reader.js';

export interface ExchangeRequest {
  /** Up to and with the empty line; latin1. */
  readonly head: string;
  readonly body: Uint8Array;
  readonly deadlineMs: number;
  readonly limits: ResponseLimits;
  readonly signal: AbortSignal | undefined;
  readonly group: AbortGroup | undefined;
}

/** The queue that an exchange waits in before it has a connection. */
export interface ExchangeQueue {
  leave(exchange: Exchange): void;
}

/** The connection that an exchange is in flight on. */
export interface ExchangeCarrier {
  /** What is known of the response, if it has a status. */
  responseSoFar(): ResponseResult | undefined;
  /** Ends the connection under an exchange that has been settled, unless it is done with it. */
  cut(exchange: Exchange): void;
}

/**
 * One request on its way: settles exactly once, whichever of response, failure, deadline and abort comes first. From
 * the moment that a status line is there, its code is the result, whatever happens behind it.
 *
 * Waits in a queue, then has a connection; only the events of these, one timer and the caller's abort change it, all
 * on one thread.
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
    this.giveUp();
  }

  /** Of the caller's signal: an object instead of a closure for each exchange. */
  handleEvent(): void {
    this.abort();
  }

  expire(): void {
    const detail = `no response within ${String(this.request.deadlineMs)} ms`;
    this.settle(this.carrier?.responseSoFar() ?? { type: 'error', errorCode: 'timeout', detail });
    this.giveUp();
  }

  /** A request that was begun can only be ended with its socket; one that still waits is never sent. */
  private giveUp(): void {
    this.queue?.leave(this);
    this.carrier?.cut(this);
  }
}

function onDeadline(exchange: Exchange): void {
  exchange.expire();
}
