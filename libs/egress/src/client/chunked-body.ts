import { ResponseRefusedError } from './response-head.js';

type Place =
  | 'size'
  | 'extension'
  | 'size_lf'
  | 'data'
  | 'data_cr'
  | 'data_lf'
  | 'line'
  | 'trailer'
  | 'line_lf'
  | 'end_lf';

const CR = 0x0d;
const LF = 0x0a;
/** 13 hexadecimal digits stay below 2^53. */
const MAX_SIZE_DIGITS = 13;

/** Receives body bytes; returns false when it wants no more. */
export type TakeBytes = (bytes: Buffer, from: number, to: number) => boolean;

/**
 * Decodes the chunked framing (RFC 9112, 7.1) of a body. Extensions and trailers are skipped; the caller limits their
 * bytes. Every line must end in CR LF, because programs disagree on a bare line feed.
 */
export class ChunkedBody {
  private place: Place = 'size';
  private sizeDigits = 0;
  private left = 0;

  constructor(private readonly take: TakeBytes) {}

  /** @returns the index after the last byte of the body, 'more' if it continues, 'enough' if `take` returned false */
  read(bytes: Buffer, from: number, to: number): number | 'more' | 'enough' {
    for (let at = from; at < to;) {
      if (this.place === 'data') {
        const until = Math.min(to, at + this.left);
        this.left -= until - at;
        if (!this.take(bytes, at, until)) return 'enough';
        if (this.left === 0) this.place = 'data_cr';
        at = until;
        continue;
      }
      const isLast = this.place === 'end_lf';
      this.place = this.next(bytes[at] ?? 0);
      at += 1;
      if (isLast) return at;
    }
    return 'more';
  }

  private next(byte: number): Place {
    switch (this.place) {
      case 'size':
        return this.nextInSize(byte);
      case 'extension':
        if (byte === CR) return 'size_lf';
        return byte === LF || byte === 0 ? refuse() : 'extension';
      case 'size_lf':
        return this.nextAfterSize(byte);
      case 'data':
      case 'data_cr':
        return byte === CR ? 'data_lf' : refuse();
      case 'data_lf':
        return byte === LF ? this.newSize() : refuse();
      case 'line':
        if (byte === CR) return 'end_lf';
        return byte === LF || byte === 0 ? refuse() : 'trailer';
      case 'trailer':
        if (byte === CR) return 'line_lf';
        return byte === LF || byte === 0 ? refuse() : 'trailer';
      case 'line_lf':
        return byte === LF ? 'line' : refuse();
      case 'end_lf':
        return byte === LF ? 'size' : refuse();
    }
  }

  private nextInSize(byte: number): Place {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.sizeDigits += 1;
      if (this.sizeDigits > MAX_SIZE_DIGITS) refuse();
      this.left = this.left * 16 + digit;
      return 'size';
    }
    if (this.sizeDigits === 0) refuse();
    if (byte === CR) return 'size_lf';
    return byte === 0x3b || byte === 0x20 || byte === 0x09 ? 'extension' : refuse();
  }

  private nextAfterSize(byte: number): Place {
    if (byte !== LF) refuse();
    return this.left === 0 ? 'line' : 'data';
  }

  private newSize(): Place {
    this.sizeDigits = 0;
    this.left = 0;
    return 'size';
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function refuse(): never {
  throw new ResponseRefusedError('the chunks of the response are malformed');
}
