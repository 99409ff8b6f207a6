/** Avro's zig-zag variable-length number. */
export function varint(value: bigint): number[] {
  const bytes: number[] = [];
  for (let rest = value < 0n ? -2n * value - 1n : 2n * value; ; rest >>= 7n) {
    const low = Number(rest & 0x7fn);
    if (rest < 128n) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}
