/** `PGCOPY\n\xff\r\n\0`, no flags, no header extension. */
const HEADER = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex');
const NULL_FIELD = -1;
const END_OF_ROWS = -1;

const INITIAL_BYTES = 64 * 1024;
/** Room for a row's field count, one fixed-size value and the end mark, so that only texts have to ask for more. */
const SLACK_BYTES = 64;
/** A UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** PostgreSQL counts microseconds from the year 2000. */
const POSTGRES_EPOCH_MS = Date.UTC(2000, 0, 1);
const TWO_TO_32 = 4_294_967_296;

const UUID_CHARACTERS = 36;
const NO_DIGIT = 255;

/**
 * The data of a `COPY ... FROM STDIN (FORMAT binary)`, written value by value. The server takes it as it is: no text is
 * made here of a time or a number, and none is read there.
 */
export class CopyRows {
  private bytes: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  private end: number;

  constructor() {
    this.end = HEADER.copy(this.bytes, 0);
  }

  /** Begins a row; its values follow, each in the type and place of its column. */
  startRow(columns: number): void {
    this.makeRoom(SLACK_BYTES);
    this.end = this.bytes.writeInt16BE(columns, this.end);
  }

  /** @throws RangeError when it is no UUID: the server would take any 16 bytes */
  uuid(text: string): void {
    this.makeRoom(SLACK_BYTES);
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

  /** Epoch milliseconds, as timestamptz. */
  timestamp(epochMs: number | null): void {
    this.makeRoom(SLACK_BYTES);
    if (epochMs === null) {
      this.nothing();
      return;
    }
    const micros = (epochMs - POSTGRES_EPOCH_MS) * 1_000;
    if (!Number.isSafeInteger(micros)) throw new RangeError(`${String(epochMs)} ms is no moment that can be stored`);
    const high = Math.floor(micros / TWO_TO_32);
    this.end = this.bytes.writeInt32BE(8, this.end);
    this.end = this.bytes.writeInt32BE(high, this.end);
    this.end = this.bytes.writeUInt32BE(micros - high * TWO_TO_32, this.end);
  }

  integer(value: number | null): void {
    this.makeRoom(SLACK_BYTES);
    if (value === null) {
      this.nothing();
      return;
    }
    this.end = this.bytes.writeInt32BE(4, this.end);
    this.end = this.bytes.writeInt32BE(value, this.end);
  }

  /** A whole number, as bigint. */
  bigint(value: number | null): void {
    this.makeRoom(SLACK_BYTES);
    if (value === null) {
      this.nothing();
      return;
    }
    this.end = this.bytes.writeInt32BE(8, this.end);
    this.end = this.bytes.writeBigInt64BE(BigInt(value), this.end);
  }

  double(value: number | null): void {
    this.makeRoom(SLACK_BYTES);
    if (value === null) {
      this.nothing();
      return;
    }
    this.end = this.bytes.writeInt32BE(8, this.end);
    this.end = this.bytes.writeDoubleBE(value, this.end);
  }

  boolean(value: boolean | null): void {
    this.makeRoom(SLACK_BYTES);
    if (value === null) {
      this.nothing();
      return;
    }
    this.end = this.bytes.writeInt32BE(1, this.end);
    this.end = this.bytes.writeUInt8(value ? 1 : 0, this.end);
  }

  text(value: string): void {
    this.makeRoom(value.length * MAX_BYTES_PER_UNIT + SLACK_BYTES);
    const length = this.bytes.write(value, this.end + 4, 'utf8');
    this.end = this.bytes.writeInt32BE(length, this.end) + length;
  }

  /** Everything that was written, ready to be sent. */
  finish(): Buffer {
    this.makeRoom(SLACK_BYTES);
    this.end = this.bytes.writeInt16BE(END_OF_ROWS, this.end);
    return this.bytes.subarray(0, this.end);
  }

  private nothing(): void {
    this.end = this.bytes.writeInt32BE(NULL_FIELD, this.end);
  }

  private makeRoom(bytes: number): void {
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

const notUuid = (text: string): RangeError => new RangeError(`${JSON.stringify(text)} is no UUID`);
