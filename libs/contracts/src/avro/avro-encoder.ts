import { LONG_LIMIT, MAX_LONG_BYTES } from './avro-long.js';

/** Smaller values can be doubled and complemented within 32 bits. */
const SMALL_LIMIT = 2 ** 30;
const INT_LIMIT = 2 ** 31;
const NULL_BRANCH = 0;
/** Branch 1 in Avro's zigzag encoding. */
const VALUE_BRANCH = 2;
/** Texts up to this length are mostly ASCII ids, which are faster to write one by one. */
const SHORT_TEXT = 48;
const FIRST_BYTES = 4_096;

/**
 * Writes Avro for schemas whose unions are all ["null", T], byte for byte like avsc, at a fraction of its cost: for
 * schemas that are written hundreds of thousands of times a second. It grows as needed, and is reused from record to
 * record.
 *
 * @throws RangeError or TypeError for values that the schema does not allow: a bug of the caller
 */
export class AvroEncoder {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** Where the next value goes. */
  at = 0;
  private view = new DataView(this.bytes.buffer);

  reset(at: number): void {
    this.at = at;
  }

  boolean(value: boolean): void {
    this.reserve(1);
    this.bytes[this.at++] = value ? 1 : 0;
  }

  int(value: number): void {
    if (!(value >= -INT_LIMIT && value < INT_LIMIT)) throw new RangeError(`${String(value)} is not an int`);
    this.long(value);
  }

  long(value: number): void {
    if (!Number.isInteger(value) || Math.abs(value) >= LONG_LIMIT)
      throw new RangeError(`${String(value)} is not a long`);
    this.reserve(MAX_LONG_BYTES);
    if (value >= -SMALL_LIMIT && value < SMALL_LIMIT) this.smallVarint((value << 1) ^ (value >> 31));
    else this.largeVarint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  double(value: number): void {
    // A missing field would be written as NaN.
    if (typeof value !== 'number') throw new TypeError(`${String(value)} is not a double`);
    this.reserve(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  string(value: string): void {
    if (value.length <= SHORT_TEXT && this.ascii(value)) return;
    const length = Buffer.byteLength(value);
    this.long(length);
    this.reserve(length);
    this.at += this.bytes.write(value, this.at, length);
  }

  /** Writes the branch of a union. @returns whether its value follows */
  present<T>(value: T | null): value is T {
    this.reserve(1);
    this.bytes[this.at++] = value === null ? NULL_BRANCH : VALUE_BRANCH;
    return value !== null;
  }

  optionalBoolean(value: boolean | null): void {
    if (this.present(value)) this.boolean(value);
  }

  optionalInt(value: number | null): void {
    if (this.present(value)) this.int(value);
  }

  optionalLong(value: number | null): void {
    if (this.present(value)) this.long(value);
  }

  optionalDouble(value: number | null): void {
    if (this.present(value)) this.double(value);
  }

  optionalString(value: string | null): void {
    if (this.present(value)) this.string(value);
  }

  /** Writes an array; `item` writes one of its items. */
  array<T>(items: readonly T[], item: (encoder: this, value: T) => void): void {
    if (items.length > 0) {
      this.long(items.length);
      for (const value of items) item(this, value);
    }
    this.long(0);
  }

  /** @returns false: not plain ASCII, and nothing is written */
  private ascii(value: string): boolean {
    const { length } = value;
    this.reserve(MAX_LONG_BYTES + length);
    const { bytes, at } = this;
    // Up to 63 the length is one byte.
    bytes[at] = length << 1;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return false;
      bytes[at + 1 + index] = code;
    }
    this.at = at + 1 + length;
    return true;
  }

  private smallVarint(zigzag: number): void {
    const { bytes } = this;
    let left = zigzag >>> 0;
    while (left >= 0x80) {
      bytes[this.at++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    bytes[this.at++] = left;
  }

  /** Uses arithmetic, since bit operations stop at 32 bits. */
  private largeVarint(zigzag: number): void {
    let left = zigzag;
    while (left >= 0x10000000) {
      this.bytes[this.at++] = (left % 0x80) | 0x80;
      left = Math.floor(left / 0x80);
    }
    this.smallVarint(left);
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(2 * (this.at + bytes));
    this.bytes.copy(grown, 0, 0, this.at);
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }
}
