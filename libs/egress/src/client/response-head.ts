import { KEPT_HEADERS, type KeptHeader } from './egress-result.js';

export interface ResponseHead {
  readonly headers: Readonly<Partial<Record<KeptHeader, string>>>;
  readonly framing: 'none' | 'length' | 'chunked' | 'until_close';
  readonly bodyBytes: number;
  readonly keepAlive: boolean;
  /** The keep-alive time that the server announces; undefined: none. */
  readonly keepAliveHintMs: number | undefined;
}

interface Fields {
  readonly headers: Partial<Record<KeptHeader, string>>;
  contentLength: string | undefined;
  transferEncoding: string | undefined;
  connection: string;
  keepAlive: string;
}

const MAX_HEADER_LENGTH = 256;
const KEPT: ReadonlyMap<string, KeptHeader> = new Map(KEPT_HEADERS.map((name) => [name, name]));
/** Allows no folded lines, no space before the colon, no bare line ends, no control characters (RFC 9112, 2.2 and 5). */
const WELL_FORMED = /^HTTP[^\r\n]*\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;

/**
 * Parses a complete head, from the status line to the empty line. Anything ambiguous is refused, never repaired: the
 * status counts anyway, and only the connection is lost.
 *
 * @param text latin1, one character per byte
 */
export function readResponseHead(text: string, statusCode: number): ResponseHead {
  if (!WELL_FORMED.test(text)) throw new ResponseRefusedError('the head of the response is malformed');
  const fields: Fields = {
    headers: {},
    contentLength: undefined,
    transferEncoding: undefined,
    connection: '',
    keepAlive: '',
  };
  const last = text.length - 2;
  for (let at = text.indexOf('\r\n') + 2; at < last;) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r\n', colon);
    readField(fields, text.slice(at, colon).toLowerCase(), text, colon + 1, end);
    at = end + 2;
  }
  return headOf(fields, statusCode, text.startsWith('HTTP/1.1'));
}

function readField(fields: Fields, name: string, text: string, from: number, to: number): void {
  const kept = KEPT.get(name);
  if (kept !== undefined) keep(fields.headers, kept, valueOf(text, from, to));
  switch (name) {
    case 'content-length':
      if (fields.contentLength !== undefined) throw new ResponseRefusedError('the response has two lengths');
      fields.contentLength = valueOf(text, from, to);
      return;
    case 'transfer-encoding':
      fields.transferEncoding = `${fields.transferEncoding ?? ''},${valueOf(text, from, to).toLowerCase()}`;
      return;
    case 'connection':
      fields.connection += `,${text.slice(from, to).toLowerCase()}`;
      return;
    case 'keep-alive':
      fields.keepAlive += `,${text.slice(from, to)}`;
      return;
  }
}

/** Strips optional whitespace (RFC 9110, 5.6.3); `trim` would remove more. */
function valueOf(text: string, from: number, to: number): string {
  let begin = from;
  let end = to;
  while (begin < end && isSpace(text.charCodeAt(begin))) begin += 1;
  while (end > begin && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(begin, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function keep(headers: Fields['headers'], name: KeptHeader, value: string): void {
  const before = headers[name];
  headers[name] = (before === undefined ? value : `${before},${value}`).slice(0, MAX_HEADER_LENGTH);
}

function headOf(fields: Fields, statusCode: number, isHttp11: boolean): ResponseHead {
  const { headers, contentLength, transferEncoding, connection, keepAlive } = fields;
  if (transferEncoding !== undefined && (transferEncoding !== ',chunked' || contentLength !== undefined || !isHttp11)) {
    throw new ResponseRefusedError('the framing of the response is ambiguous');
  }
  const bodyBytes = contentLength === undefined ? 0 : lengthOf(contentLength);
  const isPersistent = isHttp11 ? !hasToken(connection, 'close') : hasToken(connection, 'keep-alive');
  // Some servers send a body although a 204 has none: it would be mistaken for the next response.
  const mayHaveLateBody = statusCode === 204 && (transferEncoding !== undefined || bodyBytes > 0);
  return {
    headers,
    framing: framingOf(statusCode, contentLength !== undefined, transferEncoding !== undefined),
    bodyBytes,
    keepAlive: isPersistent && !mayHaveLateBody,
    keepAliveHintMs: keepAlive === '' ? undefined : hintOf(keepAlive),
  };
}

function framingOf(statusCode: number, hasLength: boolean, isChunked: boolean): ResponseHead['framing'] {
  if (statusCode === 204 || statusCode === 304) return 'none';
  if (isChunked) return 'chunked';
  return hasLength ? 'length' : 'until_close';
}

function lengthOf(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new ResponseRefusedError('the length of the response is not a number');
  return Number(text);
}

function hasToken(list: string, token: string): boolean {
  return list !== '' && list.split(',').some((each) => each.trim() === token);
}

function hintOf(text: string): number | undefined {
  const seconds = /(?:^|[,\s])timeout\s*=\s*(\d{1,9})/i.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

export class ResponseRefusedError extends Error {
  readonly code = 'EGRESS_RESPONSE_REFUSED';
}
