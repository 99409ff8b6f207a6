/** The lines across a graph of speeds, from 0 up to the first round one that is not below the fastest. */
export function speedLines(fastestKmh: number): readonly number[] {
  const step = [5, 10, 20, 25, 50, 100].find((some) => fastestKmh <= 4 * some) ?? Math.ceil(fastestKmh / 400) * 100;
  const count = Math.max(1, Math.ceil(fastestKmh / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}
