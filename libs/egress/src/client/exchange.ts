import type { Dispatcher } from 'undici';
import { type EgressResult, keptHeaders } from './egress-result.js';
import { errorCodeOf, errorDetailOf } from './error-code.js';

export interface ExchangeOptions {
  readonly deadlineMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly settle: (result: EgressResult) => void;
}

type ResponseHead = Pick<EgressResult & { type: 'response' }, 'statusCode' | 'headers'>;

/** What a cut-short exchange is ended with; its code must not be one that undici takes as a reason to go on. */
class ExchangeOver extends Error {
  readonly code = 'EGRESS_EXCHANGE_OVER';
}

/**
 * One request on its way: collects the response and settles exactly once, whichever of end, failure, size limit,
 * deadline and abort comes first. From the moment that a status code is there, it is the result, whatever happens to
 * the body.
 *
 * Only undici's callbacks and the two timers of this object change its state, all on one thread.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | undefined;
  private head: ResponseHead | undefined;
  private readonly chunks: Buffer[] = [];
  private receivedBytes = 0;
  private settled = false;

  constructor(private readonly options: ExchangeOptions) {
    this.timer = setTimeout(this.onDeadline, options.deadlineMs);
    options.signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  /** Called when the request gets its socket: it may have waited for it past its end. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.settled) controller.abort(new ExchangeOver());
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // 1xx are announcements; the response is still to come.
    if (statusCode >= 200) this.head = { statusCode, headers: keptHeaders(headers) };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled) return;
    const room = this.options.maxResponseBytes - this.receivedBytes;
    this.receivedBytes += chunk.length;
    // Copied: the chunk is a view of the whole read buffer, which it would keep alive.
    if (room > 0) this.chunks.push(Buffer.from(chunk.subarray(0, room)));
    if (chunk.length > room) this.finish({ truncated: true, cut: true });
  }

  onResponseEnd(): void {
    this.finish({ truncated: false, cut: false });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.head === undefined) this.fail(error);
    else this.finish({ truncated: true, cut: false });
  }

  /** For failures that come as exceptions before the request is queued. */
  fail(error: unknown): void {
    this.settle({ type: 'error', errorCode: errorCodeOf(error), detail: errorDetailOf(error) });
  }

  private readonly onDeadline = (): void => {
    if (this.head !== undefined) {
      this.finish({ truncated: true, cut: true });
      return;
    }
    const detail = `no response within ${String(this.options.deadlineMs)} ms`;
    this.settle({ type: 'error', errorCode: 'timeout', detail });
    this.controller?.abort(new ExchangeOver());
  };

  private readonly onAbort = (): void => {
    this.settle({ type: 'aborted' });
    this.controller?.abort(new ExchangeOver());
  };

  private finish({ truncated, cut }: { truncated: boolean; cut: boolean }): void {
    if (this.head === undefined) this.fail(new Error('the response ended before it began'));
    else this.settle({ type: 'response', ...this.head, body: Buffer.concat(this.chunks), truncated });
    if (cut) this.controller?.abort(new ExchangeOver());
  }

  private settle(result: EgressResult): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.timer);
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.options.settle(result);
  }
}
