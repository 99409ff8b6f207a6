import type { Socket } from 'node:net';
import type { Exchange, ExchangeCarrier } from './exchange.js';
import { ResponseRefusedError } from './response-head.js';
import { type Reading, ResponseReader, type ResponseReaderOptions, type ResponseResult } from './response-reader.js';
import { OverheadLimit } from './tls-limits.js';

export interface ConnectionOptions extends ResponseReaderOptions {
  /** Keeps an idle connection at most this long, whatever the server announces. */
  readonly keepAliveMs: number;
  readonly maxAgeMs: number;
  readonly monotonicMs: () => number;
}

export interface ConnectionOwner {
  onFree(connection: Connection): void;
  /** The server ended the idle connection as the request left: the exchange needs another one. */
  onStale(exchange: Exchange): void;
  onClosed(connection: Connection): void;
}

class ConnectionLostError extends Error {
  readonly code = 'ECONNRESET';
}

/** Responses to deliveries are small; a larger one is read in portions of this size. */
const READ_BUFFER_BYTES = 4_096;
/** Each read costs microseconds, however little arrives: enough for a status line byte by byte, or 64 KiB in packets. */
const MAX_READS = 1_024;
/** Copying a larger body costs more than a second buffer in the write. */
const MAX_COPIED_BODY_BYTES = 16_384;
/** The server counts its keep-alive time from its last byte and closes without notice: stop using it before that. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
/** If a server does not announce its keep-alive time: 5 s is the shortest usual default. */
const UNANNOUNCED_KEEP_ALIVE_MS = 4_000;
/**
 * A server that ends an idle connection does not know of our request: the end arrives within one round trip of it.
 * Later ends without a 408 come from servers that had the request, so they are its result.
 */
const STALE_MS = 1_000;
/** How long a 408 without `connection: close` waits for the close that makes it a notice about the idle time. */
const CLOSE_AFTER_408_MS = 100;

/**
 * One socket with one exchange at a time (HTTP/1.1 without pipelining). The socket reads into one reused buffer
 * (`onread`), bypassing Node's streams.
 */
export class Connection implements ExchangeCarrier {
  private readonly reader: ResponseReader;
  private socket: Socket | undefined;
  private overhead: OverheadLimit | undefined;
  private exchange: Exchange | undefined;
  private error: Error | undefined;
  private reads = 0;
  private wasIdle = false;
  private sentAtMs = 0;
  private closeTimer: NodeJS.Timeout | undefined;
  private usableUntilMs = 0;
  private expiresAtMs = 0;

  constructor(
    private readonly owner: ConnectionOwner,
    private readonly options: ConnectionOptions,
  ) {
    this.reader = new ResponseReader(options);
  }

  /** The `onread` option of the socket. */
  onread(): { buffer: Buffer; callback: (length: number, buffer: Uint8Array) => boolean } {
    const buffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
    return {
      buffer,
      callback: (length) => {
        this.read(buffer, length);
        return true;
      },
    };
  }

  /** Call once, with the connected socket that was created with `onread`. */
  attach(socket: Socket): void {
    const { monotonicMs, keepAliveMs, maxAgeMs } = this.options;
    this.socket = socket;
    this.overhead = new OverheadLimit(socket);
    this.expiresAtMs = monotonicMs() + maxAgeMs;
    this.usableUntilMs = monotonicMs() + Math.min(keepAliveMs, UNANNOUNCED_KEEP_ALIVE_MS);
    // An idle connection does not keep the process alive; a post in flight does, through its timer.
    socket.unref();
    socket.on('error', (error) => {
      this.error ??= error;
    });
    socket.on('end', () => {
      this.readEnd();
    });
    socket.on('close', () => {
      this.closed();
    });
    if (this.error !== undefined) socket.destroy(this.error);
  }

  /** False while the last request is not written: the response may come before it is, or before Node reports it. */
  isUsable(): boolean {
    const { socket } = this;
    const atMs = this.options.monotonicMs();
    const isIdle = socket?.destroyed === false && socket.writableLength === 0;
    return isIdle && atMs < this.usableUntilMs && atMs < this.expiresAtMs;
  }

  /** @param wasIdle not just opened: the server may be closing it */
  begin(exchange: Exchange, { wasIdle }: { wasIdle: boolean }): void {
    const { socket } = this;
    if (socket === undefined) throw new Error('begin() was called before attach().');
    this.exchange = exchange;
    exchange.start(this);
    this.reader.begin(exchange.request.limits);
    this.reads = 0;
    this.wasIdle = wasIdle;
    this.sentAtMs = this.options.monotonicMs();
    const { head, body } = exchange.request;
    if (body.length <= MAX_COPIED_BODY_BYTES) {
      const message = Buffer.allocUnsafe(head.length + body.length);
      message.write(head, 'latin1');
      message.set(body, head.length);
      socket.write(message);
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }

  responseSoFar(): ResponseResult | undefined {
    return this.reader.response();
  }

  cut(exchange: Exchange): void {
    if (this.exchange !== exchange) return;
    this.exchange = undefined;
    this.destroy();
  }

  /** Closes the connection and settles the exchange in flight with what has been received. */
  abandon(error: Error): void {
    this.settle(error);
    this.destroy();
  }

  abortIf(isMember: (exchange: Exchange) => boolean): void {
    if (this.exchange !== undefined && isMember(this.exchange)) this.exchange.abort();
  }

  /** Call every second or so. */
  sweep(): void {
    this.overhead?.check();
  }

  destroy(): void {
    this.socket?.destroy();
  }

  private read(bytes: Buffer, length: number): void {
    try {
      this.reads += 1;
      const reading = this.reader.read(bytes, length);
      if (reading === 'more') this.limitReads();
      if (this.reader.statusCode === 408 && this.canBeStale()) this.readTimeoutNotice(reading);
      else if (reading === 'more') this.continue();
      else this.complete(reading);
    } catch (error) {
      this.error ??= error as Error;
      this.socket?.destroy(this.error);
    }
  }

  /** Whether the server may have ended the connection before it knew of the request. Never true for a new connection. */
  private canBeStale(): boolean {
    if (!this.wasIdle || this.exchange === undefined) return false;
    // A 408 itself says that the server has no request, however late a busy process reads it.
    return this.reader.statusCode === 408 || this.options.monotonicMs() - this.sentAtMs <= STALE_MS;
  }

  /** Servers announce the end of an idle connection by a 408 (RFC 9110, 15.5.9); one that keeps it open means the request. */
  private readTimeoutNotice(reading: Reading): void {
    const { exchange } = this;
    if (this.reader.isLast) this.moveToAnother();
    else if (reading !== 'more')
      this.closeTimer = setTimeout(() => {
        // After the close that waited while the event loop was blocked (see exchange.ts).
        setImmediate(() => {
          if (this.exchange === exchange && this.socket?.destroyed === false) this.complete(reading);
        });
      }, CLOSE_AFTER_408_MS);
  }

  private moveToAnother(): void {
    const { exchange } = this;
    this.exchange = undefined;
    this.destroy();
    if (exchange !== undefined) this.owner.onStale(exchange);
  }

  private limitReads(): void {
    if (this.reads >= MAX_READS) throw new ResponseRefusedError('the response arrives in too many pieces');
  }

  private continue(): void {
    const { exchange, reader } = this;
    if (reader.isSufficient) exchange?.onSufficient();
    else if (reader.statusCode !== undefined) exchange?.onStatusLine();
  }

  private readEnd(): void {
    if (this.exchange !== undefined && this.reader.readEnd()) this.complete('complete');
    this.socket?.destroy(new ConnectionLostError('the other side closed the connection'));
  }

  private complete(reading: Reading): void {
    const { exchange, reader, options } = this;
    const response = reader.response();
    this.exchange = undefined;
    const reuse = reading === 'enough' ? undefined : reader.reuse;
    const idleMs = reuse === undefined ? 0 : Math.min(options.keepAliveMs, keepAliveMsOf(reuse.hintMs));
    this.usableUntilMs = options.monotonicMs() + idleMs;
    this.overhead?.renew();
    if (idleMs > 0 && this.socket?.destroyed === false) this.owner.onFree(this);
    else this.destroy();
    if (response !== undefined) exchange?.settle(response);
  }

  private closed(): void {
    clearTimeout(this.closeTimer);
    this.owner.onClosed(this);
    const { reader } = this;
    const isUnanswered = this.reads === 0 || reader.statusCode === 408;
    if (isUnanswered && this.canBeStale()) this.moveToAnother();
    else this.settle(this.error ?? new ConnectionLostError('the connection closed'));
  }

  private settle(error: Error): void {
    const { exchange } = this;
    this.exchange = undefined;
    const response = exchange === undefined ? undefined : this.reader.response();
    if (response === undefined) exchange?.fail(error);
    else exchange?.settle(response);
  }
}

function keepAliveMsOf(hintMs: number | undefined): number {
  return hintMs === undefined ? UNANNOUNCED_KEEP_ALIVE_MS : hintMs - KEEP_ALIVE_MARGIN_MS;
}
