const SEED = 0x9747b28c;
const M = 0x5bd1e995;

/** murmur2 as in Kafka's default partitioner: every client puts a key on the same partition. */
function murmur2(data: Buffer): number {
  let hash = SEED ^ data.length;
  const blocks = data.length >> 2;
  for (let i = 0; i < blocks; i++) {
    let k = Math.imul(data.readInt32LE(i * 4), M);
    k = Math.imul(k ^ (k >>> 24), M);
    hash = Math.imul(hash, M) ^ k;
  }
  const rest = blocks * 4;
  const tail = data.length & 3;
  if (tail === 3) hash ^= (data[rest + 2] ?? 0) << 16;
  if (tail >= 2) hash ^= (data[rest + 1] ?? 0) << 8;
  if (tail >= 1) hash = Math.imul(hash ^ (data[rest] ?? 0), M);
  hash = Math.imul(hash ^ (hash >>> 13), M);
  return hash ^ (hash >>> 15);
}

/** The partition that the Java client's default partitioner gives a key. */
export function partitionForKey(key: Buffer, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions;
}
