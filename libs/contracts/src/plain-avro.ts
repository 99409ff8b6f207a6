/**
 * How nearly every value is written, walked over with no more than the bytes and a place: the way of AvroCursor, which takes
 * all that Avro allows, costs several times as much. Each gives the place behind the value, or NOT_PLAIN for one that is to be
 * read by the cursor; behind a place that is NOT_PLAIN everything is.
 *
 * They look beyond the end of a record that is cut short: whoever asks has to see that the last place is not behind it.
 */
export const NOT_PLAIN = -1;

const NULL_BRANCH = 0;
const VALUE_BRANCH = 2;
const DOUBLE_BYTES = 8;

/** Of four bytes at most, so any int and the smaller longs. */
export const afterOptionalInt = (bytes: Uint8Array, at: number): number => {
  if (bytes[at] === NULL_BRANCH) return at + 1;
  return bytes[at] === VALUE_BRANCH ? afterInt(bytes, at + 1) : NOT_PLAIN;
};

const afterInt = (bytes: Uint8Array, at: number): number => {
  if ((bytes[at] as number) < 0x80) return at + 1;
  if ((bytes[at + 1] as number) < 0x80) return at + 2;
  if ((bytes[at + 2] as number) < 0x80) return at + 3;
  return (bytes[at + 3] as number) < 0x80 ? at + 4 : NOT_PLAIN;
};

export const afterOptionalDouble = (bytes: Uint8Array, at: number): number => {
  if (bytes[at] === VALUE_BRANCH) return at + 1 + DOUBLE_BYTES;
  return bytes[at] === NULL_BRANCH ? at + 1 : NOT_PLAIN;
};

/** Of less than 64 bytes. */
export const afterOptionalText = (bytes: Uint8Array, at: number): number => {
  if (bytes[at] === VALUE_BRANCH) return afterText(bytes, at + 1);
  return bytes[at] === NULL_BRANCH ? at + 1 : NOT_PLAIN;
};

/** Of less than 64 bytes: the length has one byte, of which the lowest bit is the sign. */
export const afterText = (bytes: Uint8Array, at: number): number => {
  const length = bytes[at] as number;
  return (length & 0x81) === 0 ? at + 1 + (length >>> 1) : NOT_PLAIN;
};
