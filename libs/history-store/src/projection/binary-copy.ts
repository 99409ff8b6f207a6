/** Written by hand: pg has neither binary COPY nor a COPY that follows other statements in the same message. */
import type { PoolClient, Submittable } from 'pg';

/** `PGCOPY\n\xff\r\n\0`, no flags, no header extension. */
const HEADER = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex');
const NULL_FIELD = -1;
const END_OF_ROWS = -1;

const INITIAL_BYTES = 64 * 1024;
/** Enough for a row's field count, one fixed-size value and the end mark, so that only texts need to reserve more. */
const SLACK_BYTES = 64;
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** PostgreSQL counts microseconds from the year 2000. */
const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);
const TWO_TO_32 = 4_294_967_296;

const UUID_CHARACTERS = 36;
const NO_DIGIT = 255;

/**
 * Builds the data of a `COPY ... FROM STDIN (FORMAT binary)` value by value. Neither side converts times or numbers to
 * text and back.
 */
export class CopyRows {
  private bytes: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private end: number;

  constructor() {
    this.end = HEADER.copy(this.bytes, 0);
  }

  /** Starts a row; its values follow in the types and order of the columns. */
  startRow(columns: number): void {
    this.reserve(SLACK_BYTES);
    this.end = this.bytes.writeInt16BE(columns, this.end);
  }

  /** @throws RangeError if it is not a UUID: the server would accept any 16 bytes */
  uuid(text: string): void {
    this.reserve(SLACK_BYTES);
    this.end = this.bytes.writeInt32BE(16, this.end);
    if (text.length !== UUID_CHARACTERS) throw notUuid(text);
    for (let at = 0; at < UUID_CHARACTERS; at += 2) {
      // The dashes are at 8, 13, 18 and 23.
      if (at === 8 || at === 13 || at === 18 || at === 23) {
        if (text.charCodeAt(at) !== 45) throw notUuid(text);
        at += 1;
      }
      const high = hexDigit(text.charCodeAt(at));
      const low = hexDigit(text.charCodeAt(at + 1));
      if (high === NO_DIGIT || low === NO_DIGIT) throw notUuid(text);
      this.bytes[this.end++] = high * 16 + low;
    }
  }

  /** Writes epoch milliseconds as timestamptz. */
  timestamp(epochMs: number | null): void {
    this.reserve(SLACK_BYTES);
    if (epochMs === null) {
      this.writeNull();
      return;
    }
    this.end = this.bytes.writeInt32BE(8, this.end);
    const micros = (epochMs - POSTGRES_EPOCH_MS) * 1_000;
    if (!Number.isSafeInteger(micros)) {
      // From June 2285 on, which R-11 allows. Slower than two halves.
      this.end = this.bytes.writeBigInt64BE(BigInt(epochMs - POSTGRES_EPOCH_MS) * 1_000n, this.end);
      return;
    }
    const high = Math.floor(micros / TWO_TO_32);
    this.end = this.bytes.writeInt32BE(high, this.end);
    this.end = this.bytes.writeUInt32BE(micros - high * TWO_TO_32, this.end);
  }

  integer(value: number | null): void {
    this.reserve(SLACK_BYTES);
    if (value === null) {
      this.writeNull();
      return;
    }
    this.end = this.bytes.writeInt32BE(4, this.end);
    this.end = this.bytes.writeInt32BE(value, this.end);
  }

  /** Writes a whole number as bigint. */
  bigint(value: number | null): void {
    this.reserve(SLACK_BYTES);
    if (value === null) {
      this.writeNull();
      return;
    }
    this.end = this.bytes.writeInt32BE(8, this.end);
    this.end = this.bytes.writeBigInt64BE(BigInt(value), this.end);
  }

  double(value: number | null): void {
    this.reserve(SLACK_BYTES);
    if (value === null) {
      this.writeNull();
      return;
    }
    this.end = this.bytes.writeInt32BE(8, this.end);
    this.end = this.bytes.writeDoubleBE(value, this.end);
  }

  boolean(value: boolean | null): void {
    this.reserve(SLACK_BYTES);
    if (value === null) {
      this.writeNull();
      return;
    }
    this.end = this.bytes.writeInt32BE(1, this.end);
    this.end = this.bytes.writeUInt8(value ? 1 : 0, this.end);
  }

  text(value: string | null): void {
    if (value === null) {
      this.reserve(SLACK_BYTES);
      this.writeNull();
      return;
    }
    this.reserve(value.length * MAX_BYTES_PER_UNIT + SLACK_BYTES);
    const length = this.bytes.write(value, this.end + 4, 'utf8');
    this.end = this.bytes.writeInt32BE(length, this.end) + length;
  }

  /** The complete data, ready to send. */
  finish(): Buffer {
    this.reserve(SLACK_BYTES);
    this.end = this.bytes.writeInt16BE(END_OF_ROWS, this.end);
    return this.bytes.subarray(0, this.end);
  }

  private writeNull(): void {
    this.end = this.bytes.writeInt32BE(NULL_FIELD, this.end);
  }

  private reserve(bytes: number): void {
    if (this.end + bytes <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.end + bytes));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
  }
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : NO_DIGIT;
}

function notUuid(text: string): RangeError {
  return new RangeError(`${JSON.stringify(text)} is not a UUID`);
}

/** What pg passes to a query that sends data; its type declarations lack these members. */
interface CopyConnection {
  readonly stream: NodeJS.WritableStream & { cork(): void; uncork(): void };
  query(sql: string): void;
  endCopyFrom(): void;
}

const COPY_DATA = 'd'.charCodeAt(0);
const LENGTH_BYTES = 4;

/**
 * Runs statements that end with a `COPY ... FROM STDIN`, and resolves to the command tag of each: `UPDATE 1`, `COPY
 * 200`. Statements and data are sent at once: if the server fails before the COPY, it ignores the data. The data is
 * written to the socket directly; pg's own method would copy it again.
 */
export function copyIn(client: PoolClient, sql: string, data: Buffer): Promise<readonly string[]> {
  return new Promise((resolve, reject) => client.query(new CopyIn(sql, data, resolve, reject)));
}

/** pg calls the handle... methods as messages of the server arrive. */
class CopyIn implements Submittable {
  /** pg uses this to cancel its query_timeout timer, which would otherwise keep the data alive. */
  callback?: () => void;
  private readonly results: string[] = [];
  private failed = false;

  constructor(
    private readonly sql: string,
    private readonly data: Buffer,
    private readonly resolve: (results: readonly string[]) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  submit(submittedTo: unknown): void {
    const connection = submittedTo as CopyConnection;
    const header = Buffer.alloc(1 + LENGTH_BYTES);
    header.writeUInt8(COPY_DATA);
    header.writeUInt32BE(this.data.length + LENGTH_BYTES, 1);
    connection.stream.cork();
    connection.query(this.sql);
    connection.stream.write(header);
    connection.stream.write(this.data);
    connection.endCopyFrom();
    connection.stream.uncork();
  }

  handleCopyInResponse(): void {
    // The data has been sent already.
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.results.push(text);
  }

  /** Takes an error of the server or of the connection; after a server error a ReadyForQuery still follows. */
  handleError(error: unknown): void {
    this.failed = true;
    this.callback?.();
    this.reject(error);
  }

  handleReadyForQuery(): void {
    this.callback?.();
    if (!this.failed) this.resolve(this.results);
  }
}
