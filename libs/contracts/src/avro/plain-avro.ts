/**
 * Skips a value in the encoding that nearly every writer uses, with just the bytes and a position. AvroCursor accepts
 * all that Avro allows at several times the cost. Each function returns the position after the value, or NOT_PLAIN if
 * the cursor must read it.
 *
 * They may read beyond the end of a truncated record: the caller checks that the last position is not past the end.
 */
export const NOT_PLAIN = -1;

const NULL_BRANCH = 0;
const VALUE_BRANCH = 2;
const DOUBLE_BYTES = 8;
/** 28 bits, which always fit an int. */
const INT_BYTES = 4;
/** 49 bits, which always are a long that is read exactly. */
const LONG_BYTES = 7;

export function afterOptionalInt(bytes: Uint8Array, at: number): number {
  return afterOptional(bytes, at, INT_BYTES);
}

export function afterOptionalLong(bytes: Uint8Array, at: number): number {
  return afterOptional(bytes, at, LONG_BYTES);
}

function afterOptional(bytes: Uint8Array, at: number, mostBytes: number): number {
  const branch = bytes[at];
  if (branch === NULL_BRANCH) return at + 1;
  if (branch !== VALUE_BRANCH) return NOT_PLAIN;
  for (let behind = at + 2; behind <= at + 1 + mostBytes; behind++) {
    if ((bytes[behind - 1] as number) < 0x80) return behind;
  }
  return NOT_PLAIN;
}

export function afterOptionalDouble(bytes: Uint8Array, at: number): number {
  if (bytes[at] === VALUE_BRANCH) return at + 1 + DOUBLE_BYTES;
  return bytes[at] === NULL_BRANCH ? at + 1 : NOT_PLAIN;
}

/** For a text of less than 64 bytes: its length has one byte, whose lowest bit is the sign. */
export function afterOptionalText(bytes: Uint8Array, at: number): number {
  if (bytes[at] === NULL_BRANCH) return at + 1;
  if (bytes[at] !== VALUE_BRANCH) return NOT_PLAIN;
  const length = bytes[at + 1] as number;
  return (length & 0x81) === 0 ? at + 2 + (length >>> 1) : NOT_PLAIN;
}
