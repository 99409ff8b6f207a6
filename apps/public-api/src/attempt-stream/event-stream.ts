import { once } from 'node:events';
import type { Response } from 'express';
import { onResponseEnd } from '../http/response-end.js';

/** Below the time after which proxies and our own server close a silent connection. */
const KEEP_ALIVE_MS = 15_000;
/** Less, with the time that a session is trusted for, than the second in which revocation takes effect. */
const ASK_EVERY_MS = 400;
/** A reader that takes nothing for this long is gone. */
const STALLED_MS = 30_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
  // Else a process that stops would wait for the next request of this connection.
  connection: 'close',
};

export interface EventStreamOptions {
  readonly stopping: AbortSignal;
  /** Asked several times a second. */
  readonly isStillAllowed: () => Promise<boolean>;
}

export interface ServerSentEvent {
  /** Without a line break. */
  readonly id: string;
  /** As JSON. */
  readonly data: unknown;
}

/** Server-sent events (WHATWG HTML, 9.2) to one reader, with no more in memory than one call of `send` gives. */
export class EventStream {
  private readonly ending = new AbortController();
  /** Aborted when the reader has gone or stalls, is no longer allowed, or the process stops. */
  readonly signal: AbortSignal;
  /** After what was left out since the last event; null: nothing was. Made when it is sent, as most are not. */
  private idBehind: (() => string) | null = null;
  private keepAlive: NodeJS.Timeout | undefined;
  private asking: NodeJS.Timeout | undefined;

  constructor(
    private readonly response: Response,
    private readonly options: EventStreamOptions,
  ) {
    this.signal = AbortSignal.any([options.stopping, this.ending.signal]);
    onResponseEnd(response, () => this.end());
  }

  /** @param positionId of the place where it begins, so that a reader can resume there before its first event */
  begin(positionId: string): void {
    const { response } = this;
    response.status(200).set(HEADERS);
    // A HEAD gets no more than this.
    response.flushHeaders();
    // An id alone is not an event. What is written at once also shows clients and proxies that the stream is open.
    response.write(`: open\nid: ${positionId}\n\n`);
    this.keepAlive = setInterval(() => {
      this.stayAlive();
    }, KEEP_ALIVE_MS);
    this.asking = setInterval(() => void this.ask(), ASK_EVERY_MS);
  }

  /**
   * Resolves when the reader has room for more.
   * @param positionId of the place after all of them, and of whatever was left out after them
   */
  async send(events: readonly ServerSentEvent[], positionId: () => string): Promise<void> {
    this.idBehind = positionId;
    if (events.length === 0 || this.signal.aborted) return;
    const text = events.map(({ id, data }) => `id: ${id}\nevent: attempt\ndata: ${JSON.stringify(data)}\n\n`).join('');
    if (!this.response.write(text)) await this.drained();
  }

  end(): void {
    clearInterval(this.keepAlive);
    clearInterval(this.asking);
    this.ending.abort();
    if (this.response.headersSent) this.response.end();
  }

  private async drained(): Promise<void> {
    const stalled = setTimeout(() => {
      this.response.destroy();
      this.ending.abort();
    }, STALLED_MS);
    await once(this.response, 'drain', { signal: this.signal }).catch(() => undefined);
    clearTimeout(stalled);
  }

  private async ask(): Promise<void> {
    const isAllowed = await this.options.isStillAllowed().catch(() => true);
    if (!isAllowed) this.end();
  }

  /** An id alone is not an event, but moves the place that a client resumes at past what was left out. */
  private stayAlive(): void {
    if (this.signal.aborted || this.response.writableNeedDrain) return;
    if (this.idBehind === null) this.response.write(': alive\n\n');
    else this.response.write(`id: ${this.idBehind()}\n\n`);
    this.idBehind = null;
  }
}
