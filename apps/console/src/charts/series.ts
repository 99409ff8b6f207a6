/** One value per moment of a chart; null: there was nothing to measure. */
export interface ChartSeries {
  readonly label: string;
  /** The name of a color of the style sheet, without `--`. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

/** The tops of stacked bars: each series stands on all before it. null: it has no part, and no edge that would be seen. */
export function stackTops(series: readonly ChartSeries[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, index) => {
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return value === null || value === 0 ? null : sums[index];
    }),
  );
}

/** The indexes of values without a neighbor, which no line would show. */
export function lonelyPoints(values: readonly (number | null | undefined)[]): number[] {
  const is = (index: number): boolean => values[index] != null;
  return values.flatMap((_, index) => (is(index) && !is(index - 1) && !is(index + 1) ? [index] : []));
}

/** Where the axis of shares begins, so that a dip is seen: a tenth below the lowest, at most 90 %. */
export function leastShare(values: readonly (number | null)[]): number {
  const lowest = Math.min(1, ...values.filter((value) => value !== null));
  return Math.max(0, Math.min(9, Math.floor(lowest * 10 - 1e-9)) / 10);
}

/** The newest value that there is. */
export function latestOf({ values }: ChartSeries): number | null {
  return values.findLast((value) => value !== null) ?? null;
}
