/**
 * An order in which every target comes up in proportion to its weight and evenly spread: at a weight of 20 in 100 it is
 * every fifth, not the first fifth. Repeats after its end.
 */
export function turnTable(weights: readonly number[], length: number): Uint16Array {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  if (!(sum > 0)) throw new RangeError('The weights must come to more than 0.');
  const credit = weights.map(() => 0);
  return Uint16Array.from({ length }, () => {
    let richest = 0;
    for (const [index, weight] of weights.entries()) {
      credit[index] = (credit[index] ?? 0) + weight;
      if ((credit[index] ?? 0) > (credit[richest] ?? 0)) richest = index;
    }
    credit[richest] = (credit[richest] ?? 0) - sum;
    return richest;
  });
}
