import type { BenchResults } from '../bench-results.js';
import { figuresOf, type Figures } from './figures.js';

const DIGITS: Partial<Record<keyof Figures, number>> = {
  deadEndpointP99Ratio: 3,
  deadP99RatioOnePercent: 3,
  cpuSecondsPer1000: 3,
  foreignCores: 2,
  latencyP50Ms: 1,
  latencyP99Ms: 1,
  latencyP999Ms: 1,
  retryLatenessP50Ms: 1,
  retryLatenessP99Ms: 1,
};

/** The machine-readable result; null what was not measured. */
export function jsonLine(results: BenchResults): string {
  const figures = Object.entries(figuresOf(results)).map(([name, value]) => {
    const digits = DIGITS[name as keyof Figures] ?? 0;
    return [name, value === null ? null : Number((value as number).toFixed(digits))];
  });
  return JSON.stringify({ bench: 'delivery', ...Object.fromEntries(figures) });
}
