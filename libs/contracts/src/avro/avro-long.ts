/** 2^52: the largest power of two below which avsc, and so every other reader of ours, reads a long exactly. */
export const LONG_LIMIT = 2 ** 52;

/** Enough for any 64 bits. */
export const MAX_LONG_BYTES = 10;
