import type { Dispatcher } from 'undici';
import { type EgressResult, keptHeaders } from './egress-result.js';
import { errorCodeOf, errorDetailOf } from './error-code.js';
import type { ResponseFilter, ResponseProgress } from './response-filter.js';

export interface ExchangeOptions {
  readonly deadlineMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly settle: (result: EgressResult) => void;
}

type ResponseHead = Pick<EgressResult & { type: 'response' }, 'statusCode' | 'headers'>;

/**
 * What a cut-short exchange is ended with, by ending its socket. undici's own abort would do worse: it ends the socket
 * with a code that makes the client keep the dead request and open a connection that nobody wants.
 */
class ExchangeOver extends Error {
  readonly code = 'EGRESS_EXCHANGE_OVER';
}

/**
 * One request on its way: collects the response and settles exactly once, whichever of end, failure, size limit,
 * deadline and abort comes first. From the moment that a status line is there, its code is the result, whatever
 * happens to the headers and the body behind it.
 *
 * Only undici's callbacks and the two timers of this object change its state, all on one thread.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly timer: NodeJS.Timeout;
  private filter: ResponseFilter | undefined;
  private progress: ResponseProgress | undefined;
  private head: ResponseHead | undefined;
  private readonly chunks: Buffer[] = [];
  private receivedBytes = 0;
  private settled = false;

  constructor(private readonly options: ExchangeOptions) {
    this.timer = setTimeout(this.onDeadline, options.deadlineMs);
    options.signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  /** Called when the request gets its place in a queue of one connection. */
  readonly onFilter = (filter: ResponseFilter): void => {
    this.filter = filter;
  };

  /** Called when the request gets its socket: it may have waited for it past its end. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.settled) {
      controller.abort(new ExchangeOver());
      return;
    }
    this.progress = this.filter?.begin({ maxBodyBytes: maxWireBytes(this.options.maxResponseBytes) });
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.head = { statusCode, headers: keptHeaders(headers) };
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
    this.filter?.end();
    this.finish({ truncated: false, cut: false });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.knownHead() === undefined) this.fail(error);
    else this.finish({ truncated: true, cut: false });
  }

  /** For failures that come as exceptions before the request is queued. */
  fail(error: unknown): void {
    this.settle({ type: 'error', errorCode: errorCodeOf(error), detail: errorDetailOf(error) });
  }

  private readonly onDeadline = (): void => {
    if (this.knownHead() !== undefined) {
      this.finish({ truncated: true, cut: true });
      return;
    }
    const detail = `no response within ${String(this.options.deadlineMs)} ms`;
    this.settle({ type: 'error', errorCode: 'timeout', detail });
    this.cut();
  };

  private readonly onAbort = (): void => {
    this.settle({ type: 'aborted' });
    this.cut();
  };

  private finish({ truncated, cut }: { truncated: boolean; cut: boolean }): void {
    const head = this.knownHead();
    if (head === undefined) this.fail(new Error('the response ended before it began'));
    else this.settle({ type: 'response', ...head, body: Buffer.concat(this.chunks), truncated });
    if (cut) this.cut();
  }

  private cut(): void {
    if (this.progress !== undefined) this.filter?.cut(new ExchangeOver());
  }

  /** The headers are kept all or none: of a head that broke off only the status is sure. */
  private knownHead(): ResponseHead | undefined {
    if (this.head !== undefined) return this.head;
    const statusCode = this.progress?.statusCode;
    return statusCode === undefined ? undefined : { statusCode, headers: {} };
  }

  private settle(result: EgressResult): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.timer);
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.options.settle(result);
  }
}

/** Chunks of one byte each need six on the wire; whoever needs more than this is not sending a body. */
function maxWireBytes(maxResponseBytes: number): number {
  return 65_536 + 8 * maxResponseBytes;
}
