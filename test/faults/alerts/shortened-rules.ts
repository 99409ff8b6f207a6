const MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
/** After `for:` and `keep_firing_for:`, in the brackets of a range, and after `offset`. */
const DURATION = /(?<=\bfor: |_for: |\[|\boffset )(\d+)([smh])\b/g;

/**
 * The rules with every duration divided by the factor, so that a minute of them is over in seconds. Nothing else differs:
 * what an expression compares with stays as it is.
 */
export function shortenedRules(text: string, factor: number): string {
  return text.replaceAll(
    DURATION,
    (_, number: string, unit: string) => `${String(Math.round((Number(number) * (MS[unit] ?? NaN)) / factor))}ms`,
  );
}
