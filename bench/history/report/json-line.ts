import type { BenchResults } from '../bench-results.js';
import { figuresOf, type Figures } from './figures.js';

const DIGITS: Partial<Record<keyof Figures, number>> = {
  pageP99Ms: 1,
  page1000P99Ms: 1,
  worstFilterP99Ms: 1,
  dropDayMs: 1,
  daySpaceFreedMs: 1,
};

/** The machine-readable result. */
export function jsonLine(results: BenchResults): string {
  const figures = Object.entries(figuresOf(results)).map(([name, value]) => {
    const digits = DIGITS[name as keyof Figures] ?? 0;
    return [name, Number((value as number).toFixed(digits))];
  });
  return JSON.stringify({ bench: 'history', ...Object.fromEntries(figures) });
}
