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
  /** False: the body is counted and limited. For an error, up to `MAX_ERROR_BYTES` that came with the head are kept. */
  readonly keepBody: boolean;
}

/** `enough`: the response continues, but the rest is not worth reading. */
export type Reading = 'more' | 'complete' | 'enough';

/** A body is read up to this, unkept, to save the connection: a new one with TLS costs eight times as much. */
const MAX_DRAINED_BYTES = 65_536;
/** Enough to see the reason. */
const MAX_ERROR_BYTES = 1_024;
const MAX_INTERIM_RESPONSES = 8;
const MAX_STATUS_LINE_BYTES = 1_024;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: [^\r\n]*)?\r?\n$/;
const BEGIN = Buffer.from('HTTP/1.');
const FIRST_ALLOCATION_BYTES = 512;
const CR = 0x0d;
const LF = 0x0a;
const LONG_STATUS_LINE = 'the status line of the response is too long';
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
  /** The start of a head whose end has not arrived yet; grows up to the limit. */
  private held = NOTHING;
  private heldBytes = 0;
  private lineStart = 0;
  private skippedBytes = 0;
  private isStatusLineRead = false;
  private interimResponses = 0;
  private status: number | undefined;
  private head: ResponseHead | undefined;
  private chunked: ChunkedBody | undefined;
  private bodyBytesLeft = 0;
  private wireBytesLeft = 0;
  private maxReadBytes = 0;
  private receivedBytes = 0;
  private kept: Buffer[] | undefined;
  private isSpoiled = false;
  /** Whether the bytes being read arrived with the end of the head. */
  private isWithHead = false;

  constructor(private readonly options: ResponseReaderOptions) {}

  begin(limits: ResponseLimits): void {
    this.state = 'head';
    this.limits = limits;
    this.heldBytes = 0;
    this.lineStart = 0;
    this.skippedBytes = 0;
    this.isStatusLineRead = false;
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

  get isLast(): boolean {
    return this.head !== undefined && (!this.head.keepAlive || this.head.framing === 'until_close');
  }

  /** Whether further reading can only affect the reuse of the connection. */
  get isSufficient(): boolean {
    if (this.head === undefined) return false;
    return !this.limits.keepBody || this.receivedBytes > this.limits.maxBodyBytes;
  }

  /** What has been received of the response; undefined before its status. Headers are all or none. */
  response(): ResponseResult | undefined {
    if (this.status === undefined) return undefined;
    return {
      type: 'response',
      statusCode: this.status,
      headers: this.head?.headers ?? {},
      body: this.kept === undefined ? NOTHING : Buffer.concat(this.kept),
      truncated: this.state !== 'idle' || this.receivedBytes > this.limits.maxBodyBytes,
    };
  }

  /** @param bytes reused by the caller afterwards, so kept parts are copied */
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

  /** Call when the server has closed its side. @returns whether that is the proper end of the response */
  readEnd(): boolean {
    if (this.state !== 'body' || this.head?.framing !== 'until_close') return false;
    this.state = 'idle';
    this.isSpoiled = true;
    return true;
  }

  /** Checks each byte once and copies it at most twice, however the head is split: it may arrive byte by byte. */
  private readHead(bytes: Buffer, length: number): Reading {
    let at = this.heldBytes;
    const view = at === 0 ? bytes : this.hold(bytes, 0, length);
    const to = at + length;
    let start = 0;
    for (; at < to; at += 1) {
      if (view[at] !== LF) continue;
      const end = at + 1;
      if (!this.isStatusLineRead) this.readStatusLine(view, start, end);
      else if (isEmptyLine(view, this.lineStart, at)) {
        this.refuseTooLong(end - start);
        if (this.status !== undefined) {
          const text = view.toString('latin1', start, end);
          return this.endHead(text, this.status, bytes, length - (to - end), length);
        }
        this.skipInterimResponse(end - start);
        start = end;
      }
      this.lineStart = end;
    }
    this.checkIncompleteHead(view, start, to);
    if (view === bytes) this.hold(bytes, start, to);
    else if (start > 0) this.heldBytes = view.copy(view, 0, start, to);
    this.lineStart -= start;
    return 'more';
  }

  /** @returns the buffer that holds the head so far */
  private hold(bytes: Buffer, from: number, to: number): Buffer {
    const needed = this.heldBytes + to - from;
    if (needed > this.held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.held.length, FIRST_ALLOCATION_BYTES));
      this.held.copy(larger, 0, 0, this.heldBytes);
      this.held = larger;
    }
    this.heldBytes += bytes.copy(this.held, this.heldBytes, from, to);
    return this.held;
  }

  private readStatusLine(view: Buffer, start: number, end: number): void {
    if (end - start > MAX_STATUS_LINE_BYTES) throw new ResponseRefusedError(LONG_STATUS_LINE);
    const status = STATUS_LINE.exec(view.toString('latin1', start, end))?.[1];
    if (status === undefined) throw new ResponseRefusedError('the answer is not HTTP/1.1');
    if (status === '101') throw new ResponseRefusedError('the answer changes the protocol');
    this.isStatusLineRead = true;
    if (Number(status) >= 200) this.status = Number(status);
  }

  private checkIncompleteHead(view: Buffer, start: number, to: number): void {
    const length = to - start;
    this.refuseTooLong(length);
    if (this.isStatusLineRead) return;
    const compared = Math.min(BEGIN.length, length);
    if (BEGIN.compare(view, start, start + compared, 0, compared) !== 0)
      throw new ResponseRefusedError('the answer is not HTTP/1.1');
    if (length >= MAX_STATUS_LINE_BYTES) throw new ResponseRefusedError(LONG_STATUS_LINE);
  }

  private refuseTooLong(headBytes: number): void {
    if (this.skippedBytes + headBytes > this.options.maxHeadBytes)
      throw new ResponseRefusedError('the head of the response is too long');
  }

  private endHead(text: string, status: number, bytes: Buffer, from: number, to: number): Reading {
    this.heldBytes = 0;
    if (this.held.length > FIRST_ALLOCATION_BYTES) this.held = NOTHING;
    const head = readResponseHead(text, status);
    this.head = head;
    this.state = 'body';
    this.bodyBytesLeft = head.bodyBytes;
    const isWorthDraining = head.keepAlive && head.framing !== 'until_close' && head.bodyBytes <= MAX_DRAINED_BYTES;
    this.maxReadBytes = Math.max(this.limits.maxBodyBytes, isWorthDraining ? MAX_DRAINED_BYTES : 0);
    if (head.framing === 'chunked') this.chunked = new ChunkedBody(this.take);
    this.isWithHead = true;
    const reading = this.readBody(bytes, from, to);
    this.isWithHead = false;
    return reading;
  }

  private skipInterimResponse(headBytes: number): void {
    this.interimResponses += 1;
    if (this.interimResponses > MAX_INTERIM_RESPONSES)
      throw new ResponseRefusedError('too many interim responses (1xx)');
    this.skippedBytes += headBytes;
    this.isStatusLineRead = false;
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

  private maxKeptBytes(): number {
    if (this.limits.keepBody) return this.limits.maxBodyBytes;
    return this.isWithHead && !isSuccessful(this.status) ? MAX_ERROR_BYTES : 0;
  }

  private readonly take = (bytes: Buffer, from: number, to: number): boolean => {
    const room = this.maxKeptBytes() - this.receivedBytes;
    this.receivedBytes += to - from;
    if (room > 0 && to > from) {
      this.kept ??= [];
      this.kept.push(Buffer.from(bytes.subarray(from, Math.min(to, from + room))));
    }
    return this.receivedBytes <= this.maxReadBytes;
  };
}

function isSuccessful(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status <= 299;
}

/** Chunks of one byte each need six on the wire; more is not a body. */
function maxWireBytes(maxBodyBytes: number): number {
  return MAX_DRAINED_BYTES + 8 * maxBodyBytes;
}

/** Bare line feeds count as well, so that such a head is refused at once. */
function isEmptyLine(view: Buffer, lineStart: number, lineFeedAt: number): boolean {
  return lineFeedAt === lineStart || (lineFeedAt === lineStart + 1 && view[lineStart] === CR);
}
