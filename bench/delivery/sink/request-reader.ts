/** A request as far as the sink looks at it. */
export interface SinkRequest {
  /** The number at the end of the path. */
  readonly endpoint: number;
  readonly attempt: number;
  readonly idHead: number;
  readonly event: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const ENDPOINT = /^[A-Z]+ \/hook\/(\d+) /;
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const ATTEMPT = /\r\nx-service-attempt: *(\d+)/i;
const ID = /\r\nwebhook-id: *([0-9a-f]{8})/i;
/** How the load generator names a device: it is in every body. */
export const EVENT_MARK = 'bench-';
const EVENT_MARK_BYTES = Buffer.from(EVENT_MARK);
export const EVENT_DIGITS = 12;

/**
 * Splits the bytes of one connection into requests. Reads no more of HTTP than a client sends that knows the length of
 * its body, so that receiving costs next to nothing beside sending.
 */
export class RequestReader {
  private waiting: Buffer | null = null;

  /** @throws Error when the bytes are no request with a content-length */
  read(chunk: Buffer, take: (request: SinkRequest) => void): void {
    let bytes = this.waiting === null ? chunk : Buffer.concat([this.waiting, chunk]);
    for (;;) {
      const headEnd = bytes.indexOf(HEAD_END);
      if (headEnd < 0) break;
      const head = bytes.toString('latin1', 0, headEnd);
      const length = LENGTH.exec(head)?.[1];
      if (length === undefined) throw new Error('A request without content-length.');
      const bodyStart = headEnd + HEAD_END.length;
      const end = bodyStart + Number(length);
      if (bytes.length < end) break;
      take({
        endpoint: Number(ENDPOINT.exec(head)?.[1] ?? -1),
        attempt: Number(ATTEMPT.exec(head)?.[1] ?? 0),
        idHead: Number.parseInt(ID.exec(head)?.[1] ?? '0', 16),
        event: eventOf(bytes, bodyStart, end),
      });
      bytes = bytes.subarray(end);
    }
    this.waiting = bytes.length === 0 ? null : bytes;
  }
}

function eventOf(bytes: Buffer, from: number, end: number): number {
  const mark = bytes.indexOf(EVENT_MARK_BYTES, from);
  const digits = mark + EVENT_MARK.length;
  if (mark < 0 || digits + EVENT_DIGITS > end) return -1;
  return Number(bytes.toString('latin1', digits, digits + EVENT_DIGITS));
}
