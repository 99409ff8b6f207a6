import type { Socket } from 'node:net';

/** A response that breaks HTTP/1.1 or a bound. */
export class ResponseRefusedError extends Error {
  readonly code = 'EGRESS_RESPONSE_REFUSED';
}

export interface ResponseFilterOptions {
  /** Over all bytes before the body, announcements (1xx) included. */
  readonly maxHeadBytes: number;
}

/** What is known of the response to the request in flight. */
export interface ResponseProgress {
  /** From the moment that the final status line is there; its headers may still be missing. */
  readonly statusCode: number | undefined;
}

const MAX_ANNOUNCEMENTS = 8;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r?\n/;
const BEGIN = 'HTTP/1.';
/** CR LF CR: what may be there of the end of a head without being it. */
const LONGEST_END = 3;

/**
 * Stands between a socket and undici's parser, for what the parser does not do:
 * - it tells a status only with the last header, but the status line alone decides a delivery;
 * - it takes a 100 Continue that nobody asked for as the end of the connection; RFC 9110 15.2 wants it skipped;
 * - it bounds header names and values only, so that an endless reason phrase, endless announcements or endless chunk
 *   extensions are read for as long as they come.
 * The parser gets the final head in one piece and then the bytes of the body as they are.
 *
 * One filter per connection slot; requests on it come one after the other. Only `read` of its current socket and the
 * exchange in flight change it.
 */
export class ResponseFilter {
  private state: 'idle' | 'head' | 'body' = 'idle';
  private socket: Socket | undefined;
  private held: Buffer = Buffer.alloc(0);
  private headBytes = 0;
  private announcements = 0;
  private bodyBytesLeft = 0;
  private progress: { statusCode: number | undefined } = { statusCode: undefined };

  constructor(private readonly options: ResponseFilterOptions) {}

  /** @param maxBodyBytes over the bytes on the wire, chunk framing included */
  begin({ maxBodyBytes }: { maxBodyBytes: number }): ResponseProgress {
    this.state = 'head';
    this.held = Buffer.alloc(0);
    this.headBytes = 0;
    this.announcements = 0;
    this.bodyBytesLeft = maxBodyBytes;
    this.progress = { statusCode: undefined };
    return this.progress;
  }

  /** Ends the connection under the request in flight. */
  cut(reason: Error): void {
    this.socket?.destroy(reason);
  }

  /** What comes from now on was not asked for. */
  end(): void {
    this.state = 'idle';
  }

  /** undici reads its sockets by `read()` alone, so this is the one place that all bytes pass. */
  watch(socket: Socket): Socket {
    this.state = 'idle';
    this.socket = socket;
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
    socket.read = (size?: number): Buffer | null => {
      for (;;) {
        const chunk = read(size);
        if (chunk === null) return null;
        try {
          const passed = this.pass(chunk);
          if (passed !== undefined) return passed;
        } catch (error) {
          socket.destroy(error as Error);
          return null;
        }
      }
    };
    return socket;
  }

  private pass(chunk: Buffer): Buffer | undefined {
    switch (this.state) {
      case 'idle':
        // It would be taken as the answer to the next request.
        throw new ResponseRefusedError('the response goes on after its end');
      case 'body':
        this.countBody(chunk.length);
        return chunk;
      case 'head':
        return this.passHead(chunk);
    }
  }

  private passHead(chunk: Buffer): Buffer | undefined {
    // Nothing is looked through twice: a head may come a byte at a time.
    let from = Math.max(0, this.held.length - LONGEST_END);
    this.held = this.held.length === 0 ? chunk : Buffer.concat([this.held, chunk]);
    for (;;) {
      this.readStatusLine();
      const end = endOfHead(this.held, from);
      from = 0;
      if (this.headBytes + (end ?? this.held.length) > this.options.maxHeadBytes) {
        throw new ResponseRefusedError('the head of the response is too long');
      }
      if (end === undefined) return undefined;
      if (this.progress.statusCode !== undefined) return this.endHead(end);
      this.skipAnnouncement(end);
      if (this.held.length === 0) return undefined;
    }
  }

  private readStatusLine(): void {
    if (this.progress.statusCode !== undefined) return;
    const lineEnd = this.held.indexOf(0x0a);
    const text = this.held.toString('latin1', 0, lineEnd < 0 ? BEGIN.length : lineEnd + 1);
    if (lineEnd < 0 && BEGIN.startsWith(text)) return;
    const status = STATUS_LINE.exec(text)?.[1];
    if (status === undefined) throw new ResponseRefusedError('the answer is not HTTP/1.1');
    if (status === '101') throw new ResponseRefusedError('the answer changes the protocol');
    if (Number(status) >= 200) this.progress.statusCode = Number(status);
  }

  private endHead(end: number): Buffer {
    const passed = this.held;
    this.held = Buffer.alloc(0);
    this.state = 'body';
    this.countBody(passed.length - end);
    return passed;
  }

  private skipAnnouncement(end: number): void {
    this.announcements += 1;
    if (this.announcements > MAX_ANNOUNCEMENTS) throw new ResponseRefusedError('too many announcements (1xx)');
    this.headBytes += end;
    this.held = this.held.subarray(end);
  }

  private countBody(byteCount: number): void {
    this.bodyBytesLeft -= byteCount;
    if (this.bodyBytesLeft < 0) throw new ResponseRefusedError('the body of the response is too long');
  }
}

/** Bare line feeds count here as well, so that the parser gets to refuse them at once. */
function endOfHead(bytes: Buffer, from: number): number | undefined {
  for (let at = bytes.indexOf(0x0a, from); at >= 0; at = bytes.indexOf(0x0a, at + 1)) {
    if (bytes[at + 1] === 0x0a) return at + 2;
    if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return at + 3;
  }
  return undefined;
}
