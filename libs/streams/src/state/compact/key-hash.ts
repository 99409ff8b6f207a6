/** A hash of `count` words from `start` on. The words behind a key's last byte are padded with zeros. */
export type KeyHash = (words: Int32Array, start: number, count: number) => number;

/** The mixing of murmur3: a few multiplications for each four bytes, and every bit of the key reaches every bit. */
export const hashWords: KeyHash = (words, start, count) => {
  let hash = count;
  for (let at = start; at < start + count; at++) {
    let word = Math.imul(words[at] as number, 0xcc9e2d51);
    word = Math.imul((word << 15) | (word >>> 17), 0x1b873593);
    hash ^= word;
    hash = Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
};
