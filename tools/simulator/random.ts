/** A stream of numbers in [0, 1) that the seed alone decides. */
export type Random = () => number;

/** mulberry32: small, fast, and good enough for traffic. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function between(random: Random, low: number, high: number): number {
  return low + random() * (high - low);
}

export function wholeBetween(random: Random, low: number, high: number): number {
  return Math.floor(between(random, low, high + 1));
}

export function chance(random: Random, probability: number): boolean {
  return random() < probability;
}

export function pick<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

/** Roughly normal, mean 0, deviation 1: enough for the noise of a receiver. */
export function noise(random: Random): number {
  return (random() + random() + random() + random() - 2) * Math.sqrt(3);
}
