import { ChunkedBody } from './chunked-body.js';
import type { EgressResult } from './egress-result.js';
import { readResponseHead, type ResponseHead, ResponseRefusedError } from './response-head.js';

export type ResponseResult = EgressResult & { readonly type: 'response' };

export interface ResponseReaderOptions {
  /** All bytes before the body, interim responses (1xx) included. */
  readonly maxHeadBytes: number;
}

export interface ResponseLimits {
  readonly maxBodyBytes: number;
  /** false: the body is counted and limited, but not kept. */
  readonly keepBody: boolean;
}

/** `enough`: the body continues beyond its limit. */
export type Reading = 'more' | 'complete' | 'enough';

const MAX_INTERIM_RESPONSES = 8;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r?\n/;
const BEGIN = 'HTTP/1.';
/** CR LF CR: the longest incomplete end of a head. */
const LONGEST_END = 3;
const NOTHING = Buffer.alloc(0);
const NO_LIMITS: ResponseLimits = { maxBodyBytes: 0, keepBody: false };

/**
 * Reads the responses of one connection, one after the other, and limits every part of them:
 * - the status counts once its line is complete, whatever follows;
 * - interim responses (1xx) are skipped, requested or not (RFC 9110, 15.2);
 * - unrequested bytes end the connection: they would be taken as the response to the next request.
 *
 * Throws ResponseRefusedError.
 */
export class ResponseReader {
  private state: 'idle' | 'head' | 'body' = 'idle';
  private limits = NO_LIMITS;
  private held = '';
  private headBytes = 0;
  private interimResponses = 0;
  private status: number | undefined;
  private head: ResponseHead | undefined;
  private chunked: ChunkedBody | undefined;
  private bodyBytesLeft = 0;
  private wireBytesLeft = 0;
  private receivedBytes = 0;
  private kept: Buffer[] | undefined;
  private isSpoiled = false;

  constructor(private readonly options: ResponseReaderOptions) {}

  begin(limits: ResponseLimits): void {
    this.state = 'head';
    this.limits = limits;
    this.held = '';
    this.headBytes = 0;
    this.interimResponses = 0;
    this.status = undefined;
    this.head = undefined;
    this.chunked = undefined;
    this.wireBytesLeft = maxWireBytes(limits.maxBodyBytes);
    this.receivedBytes = 0;
    this.kept = undefined;
    this.isSpoiled = false;
  }

  /** Set once the final status line is complete; the headers may still be missing. */
  get statusCode(): number | undefined {
    return this.status;
  }

  /** Whether the connection can be reused after the completed response, and for how long; undefined: it cannot. */
  get reuse(): { readonly hintMs: number | undefined } | undefined {
    const { head } = this;
    return head?.keepAlive === true && !this.isSpoiled ? { hintMs: head.keepAliveHintMs } : undefined;
  }

  /** What has been received of the response; undefined before its status. Headers are returned all or none. */
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

  /** @param bytes reused by the caller afterwards, so whatever is kept is copied */
  read(bytes: Buffer, length: number): Reading {
    switch (this.state) {
      case 'idle':
        throw new ResponseRefusedError('the response continues after its end');
      case 'head':
        return this.readHead(bytes, length);
      case 'body':
        return this.readBody(bytes, 0, length);
    }
  }

  /** The server has closed its side: true if that is the proper end of the response. */
  readEnd(): boolean {
    if (this.state !== 'body' || this.head?.framing !== 'until_close') return false;
    this.state = 'idle';
    this.isSpoiled = true;
    return true;
  }

  private readHead(bytes: Buffer, length: number): Reading {
    // Nothing is searched twice: a head may arrive byte by byte.
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
      this.skipInterimResponse(end);
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

  private skipInterimResponse(end: number): void {
    this.interimResponses += 1;
    if (this.interimResponses > MAX_INTERIM_RESPONSES)
      throw new ResponseRefusedError('too many interim responses (1xx)');
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
    this.isSpoiled = end < to;
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

/** Chunks of one byte each need six on the wire; anything above this is not a body. */
function maxWireBytes(maxBodyBytes: number): number {
  return 65_536 + 8 * maxBodyBytes;
}

/** Bare line feeds count as well, so that such a head is refused at once. */
function endOfHead(text: string, from: number): number | undefined {
  for (let at = text.indexOf('\n', from); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (text[at + 1] === '\n') return at + 2;
    if (text[at + 1] === '\r' && text[at + 2] === '\n') return at + 3;
  }
  return undefined;
}
