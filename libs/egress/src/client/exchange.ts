import type { AbortGroup } from './abort-group.js';
import type { RequestOwner } from './checked-connector.js';
import { type EgressResult, errorCodeOf, errorDetailOf } from './egress-result.js';
import type { ResponseLimits, ResponseResult } from './response-reader.js';

export interface ExchangeRequest {
  /** Ends with the empty line; latin1. */
  readonly head: string;
  readonly body: Uint8Array;
  readonly deadlineMs: number;
  readonly limits: ResponseLimits;
  readonly signal: AbortSignal | undefined;
  readonly group: AbortGroup | undefined;
  readonly isWanted: (() => boolean) | undefined;
  readonly owner?: RequestOwner | undefined;
}

export interface ExchangeQueue {
  leave(exchange: Exchange): void;
  /** Whether nothing has been tried for it because lookups of its fleet have to end first. */
  isWithoutTurn(exchange: Exchange): boolean;
}

export interface ExchangeCarrier {
  /** undefined until its status line is complete. */
  responseSoFar(): ResponseResult | undefined;
  /** Closes the connection under a settled exchange, unless the connection has finished with it. */
  cut(exchange: Exchange): void;
}

/**
 * Without a kept body, a response is settled at most this long after its status line, with or without its headers: they
 * normally come in the same packet, or one lost packet (a retransmission after 200 to 600 ms) later.
 */
const HEAD_GRACE_MS = 1_000;
/** How long the rest of a body may keep the connection: 64 KiB on a new connection are four round trips of 125 ms. */
const DRAIN_MS = 500;
const NOT_LOOKED_UP = 'the host was not looked up in time, because too many other lookups are not answered';

/**
 * One request and its response. Settles exactly once, by whichever of response, failure, deadline and abort comes
 * first. Once the status line is complete its code is the result, whatever follows.
 *
 * It first waits in a queue, then occupies a connection until the response is complete, which may be after it settled.
 */
export class Exchange {
  private queue: ExchangeQueue | undefined;
  private carrier: ExchangeCarrier | undefined;
  private readonly deadlineAtMs: number;
  private timer: NodeJS.Timeout;
  private hasStatus = false;
  private settled = false;
  private wasSent = false;

  constructor(
    readonly request: ExchangeRequest,
    private readonly resolve: (result: EgressResult) => void,
  ) {
    this.deadlineAtMs = performance.now() + request.deadlineMs;
    this.timer = setTimeout(onDeadline, request.deadlineMs, this);
    request.signal?.addEventListener('abort', this, { once: true });
  }

  /** Called right before it is written; an unwanted exchange settles as aborted. */
  withdrawIfUnwanted(): boolean {
    if (this.request.isWanted?.() !== false) return false;
    this.abort();
    return true;
  }

  waitIn(queue: ExchangeQueue): void {
    this.queue = queue;
  }

  /** Call when it was sent on an idle connection that the server had ended. */
  waitAgainIn(queue: ExchangeQueue): void {
    this.wasSent = true;
    this.carrier = undefined;
    this.queue = queue;
  }

  start(carrier: ExchangeCarrier): void {
    this.queue = undefined;
    this.carrier = carrier;
  }

  onStatusLine(): void {
    if (this.hasStatus) return;
    this.hasStatus = true;
    if (!this.request.limits.keepBody) this.expireWithin(HEAD_GRACE_MS);
  }

  /** The rest of the response matters only to the connection. */
  onSufficient(): void {
    const response = this.settled ? undefined : this.carrier?.responseSoFar();
    if (response === undefined) return;
    this.expireWithin(DRAIN_MS);
    this.settleOnce(response);
  }

  /** Call when the connection has finished with this exchange. */
  settle(result: EgressResult): void {
    clearTimeout(this.timer);
    this.settleOnce(result);
  }

  fail(error: unknown): void {
    this.settle({ type: 'error', errorCode: errorCodeOf(error), detail: errorDetailOf(error), ...this.unsentMark() });
  }

  abort(): void {
    this.settle({ type: 'aborted' });
    this.withdraw();
  }

  /** Implements the listener of the caller's signal: an object avoids a closure per exchange. */
  handleEvent(): void {
    this.abort();
  }

  expire(): void {
    const isWithoutTurn = this.queue?.isWithoutTurn(this) === true;
    // The rest of an attempt's time has fractions.
    const withinMs = String(Math.round(this.request.deadlineMs));
    const detail = isWithoutTurn ? NOT_LOOKED_UP : `no response within ${withinMs} ms`;
    this.settle(this.carrier?.responseSoFar() ?? { type: 'error', errorCode: 'timeout', detail, ...this.unsentMark() });
    this.withdraw();
  }

  private unsentMark(): { readonly isUnsent?: true } {
    return this.carrier === undefined && !this.wasSent ? { isUnsent: true } : {};
  }

  private settleOnce(result: EgressResult): void {
    if (this.settled) return;
    this.settled = true;
    this.request.signal?.removeEventListener('abort', this);
    this.resolve(result);
  }

  /** Shortens the deadline, never extends it. */
  private expireWithin(graceMs: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(onDeadline, Math.min(graceMs, this.deadlineAtMs - performance.now()), this);
  }

  /** A request in flight can only be ended together with its socket; a waiting one is never sent. */
  private withdraw(): void {
    this.queue?.leave(this);
    this.carrier?.cut(this);
  }
}

/**
 * After the event loop was blocked, timers run before data that has arrived is read. That data decides first, or a
 * pause of this process would turn responses into timeouts.
 */
function onDeadline(exchange: Exchange): void {
  setImmediate(expire, exchange);
}

function expire(exchange: Exchange): void {
  exchange.expire();
}
