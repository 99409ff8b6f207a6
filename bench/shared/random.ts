/** Numbers in [0, 1) that are the same for the same seed; fast rather than strong. */
export type Random = () => number;

export function createRandom(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const HEX = Array.from({ length: 65_536 }, (_, value) => value.toString(16).padStart(4, '0'));

/** As spread out as the ids of events are. */
export function uuidOf(random: Random): string {
  const word = (): string => HEX[Math.floor(random() * 65_536)] ?? '0000';
  return `${word()}${word()}-${word()}-5${word().slice(1)}-8${word().slice(1)}-${word()}${word()}${word()}`;
}
