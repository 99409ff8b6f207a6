import { ChunkedBody } from './chunked-body.js';
import type { EgressResult } from './egress-result.js';
import { readResponseHead, type ResponseHead } from './response-head.js';
import { ResponseRefusedError } from './response-refused.js';

export type ResponseResult = EgressResult & { readonly type: 'response' };

export interface ResponseReaderOptions {
  /** Over all bytes before the body, announcements (1xx) included. */
  readonly maxHeadBytes: number;
}

export interface ResponseLimits {
  readonly maxBodyBytes: number;
  /** False: the body is counted and bounded, but not kept. */
  readonly keepBody: boolean;
}

/** `enough`: the body goes on beyond its limit. */
export type Reading = 'more' | 'complete' | 'enough';

const MAX_ANNOUNCEMENTS = 8;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r?\n/;
const BEGIN = 'HTTP/1.';
/** CR LF CR: what may be there of the end of a head without being it. */
const LONGEST_END = 3;
const NOTHING = Buffer.alloc(0);
const NO_LIMITS: ResponseLimits = { maxBodyBytes: 0, keepBody: false };

/**
 * Reads the responses of one connection, one after the other, and bounds every byte of them:
 * - a status counts from the end of its line on, whatever comes behind it;
 * - announcements (1xx) are skipped, asked for or not (RFC 9110, 15.2);
 * - bytes that nobody asked for end the connection: they would be taken as the answer to the next request.
 *
 * Throws ResponseRefusedError. Only the events of one socket change it.
 */
export class ResponseReader {
  private state: 'idle' | 'head' | 'body' = 'idle';
  private limits = NO_LIMITS;
  private held = '';
  private headBytes = 0;
  private announcements = 0;
  private status: number | undefined;
  private head: ResponseHead | undefined;
  private chunked: ChunkedBody | undefined;
  private bodyBytesLeft = 0;
  private wireBytesLeft = 0;
  private receivedBytes = 0;
  private kept: Buffer[] | undefined;
  private spoiled = false;

  constructor(private readonly options: ResponseReaderOptions) {}

  begin(limits: ResponseLimits): void {
    this.state = 'head';
    this.limits = limits;
    this.held = '';
    this.headBytes = 0;
    this.announcements = 0;
    this.status = undefined;
    this.head = undefined;
    this.chunked = undefined;
    this.wireBytesLeft = maxWireBytes(limits.maxBodyBytes);
    this.receivedBytes = 0;
    this.kept = undefined;
    this.spoiled = false;
  }

  /** From the moment that the final status line is there; its headers may still be missing. */
  get statusCode(): number | undefined {
    return this.status;
  }

  /** Whether the response that was complete leaves its connection fit for another, and for how long. */
  get reuse(): { readonly hintMs: number | undefined } | undefined {
    const { head } = this;
    return head?.keepAlive === true && !this.spoiled ? { hintMs: head.keepAliveHintMs } : undefined;
  }

  /** What is known of the response; undefined before its status. The headers are kept all or none. */
  response(truncated: boolean): ResponseResult | undefined {
    if (this.status === undefined) return undefined;
    return {
      type: 'response',
      statusCode: this.status,
      headers: this.head?.headers ?? {},
      body: this.kept === undefined ? NOTHING : Buffer.concat(this.kept),
      truncated,
    };
  }

  /** @param bytes reused by the caller after this: what is kept is copied */
  read(bytes: Buffer, length: number): Reading {
    switch (this.state) {
      case 'idle':
        throw new ResponseRefusedError('the response goes on after its end');
      case 'head':
        return this.readHead(bytes, length);
      case 'body':
        return this.readBody(bytes, 0, length);
    }
  }

  /** The other side sends no more: true if that is how the response was to end. */
  readEnd(): boolean {
    if (this.state !== 'body' || this.head?.framing !== 'until_close') return false;
    this.state = 'idle';
    this.spoiled = true;
    return true;
  }

  private readHead(bytes: Buffer, length: number): Reading {
    // Nothing is looked through twice: a head may come a byte at a time.
    let from = Math.max(0, this.held.length - LONGEST_END);
    this.held += bytes.toString('latin1', 0, length);
    for (;;) {
      this.readStatusLine();
      const end = endOfHead(this.held, from);
      from = 0;
      if (this.headBytes + (end ?? this.held.length) > this.options.maxHeadBytes) {
        throw new ResponseRefusedError('the head of the response is too long');
      }
      if (end === undefined) return 'more';
      if (this.status !== undefined) return this.endHead(this.status, end, bytes, length);
      this.skipAnnouncement(end);
      if (this.held === '') return 'more';
    }
  }

  private readStatusLine(): void {
    if (this.status !== undefined) return;
    const status = STATUS_LINE.exec(this.held)?.[1];
    if (status === undefined) {
      if (!this.held.includes('\n') && BEGIN.startsWith(this.held.slice(0, BEGIN.length))) return;
      throw new ResponseRefusedError('the answer is not HTTP/1.1');
    }
    if (status === '101') throw new ResponseRefusedError('the answer changes the protocol');
    if (Number(status) >= 200) this.status = Number(status);
  }

  private endHead(status: number, end: number, bytes: Buffer, length: number): Reading {
    const text = this.held;
    this.held = '';
    const head = readResponseHead(end === text.length ? text : text.slice(0, end), status);
    this.head = head;
    this.state = 'body';
    this.bodyBytesLeft = head.bodyBytes;
    if (head.framing === 'chunked') this.chunked = new ChunkedBody(this.take);
    return this.readBody(bytes, length - (text.length - end), length);
  }

  private skipAnnouncement(end: number): void {
    this.announcements += 1;
    if (this.announcements > MAX_ANNOUNCEMENTS) throw new ResponseRefusedError('too many announcements (1xx)');
    this.headBytes += end;
    this.held = this.held.slice(end);
  }

  private readBody(bytes: Buffer, from: number, to: number): Reading {
    this.wireBytesLeft -= to - from;
    if (this.wireBytesLeft < 0) throw new ResponseRefusedError('the body of the response is too long');
    if (this.chunked !== undefined) return this.endedAt(this.chunked.read(bytes, from, to), to);
    switch (this.head?.framing) {
      case 'length': {
        const until = Math.min(to, from + this.bodyBytesLeft);
        this.bodyBytesLeft -= until - from;
        if (!this.take(bytes, from, until)) return 'enough';
        return this.endedAt(this.bodyBytesLeft === 0 ? until : 'more', to);
      }
      case 'until_close':
        return this.take(bytes, from, to) ? 'more' : 'enough';
      default:
        return this.endedAt(from, to);
    }
  }

  private endedAt(end: number | 'more' | 'enough', to: number): Reading {
    if (typeof end === 'string') return end;
    this.state = 'idle';
    this.spoiled = end < to;
    return 'complete';
  }

  private readonly take = (bytes: Buffer, from: number, to: number): boolean => {
    const room = this.limits.maxBodyBytes - this.receivedBytes;
    this.receivedBytes += to - from;
    if (this.limits.keepBody && room > 0 && to > from) {
      this.kept ??= [];
      this.kept.push(Buffer.from(bytes.subarray(from, Math.min(to, from + room))));
    }
    return to - from <= room;
  };
}

/** Chunks of one byte each need six on the wire; whoever needs more than this is not sending a body. */
function maxWireBytes(maxBodyBytes: number): number {
  return 65_536 + 8 * maxBodyBytes;
}

/** Bare line feeds count here as well, so that such a head is refused at once. */
function endOfHead(text: string, from: number): number | undefined {
  for (let at = text.indexOf('\n', from); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text[at + 1] === '\n') return at + 2;
    if (text[at + 1] === '\r' && text[at + 2] === '\n') return at + 3;
  }
  return undefined;
}
