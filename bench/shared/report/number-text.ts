/** 1234567 as `1,234,567`. */
export function counted(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Rates as `312k`. */
export function thousands(value: number): string {
  return `${(value / 1000).toFixed(0)}k`;
}

export function perSecond(value: number): string {
  return `${counted(value)}/s`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

export function milliseconds(value: number): string {
  return `${counted(value)} ms`;
}

export function times(ratio: number): string {
  return `${ratio.toFixed(2)}x`;
}

/** The machine-readable result of a benchmark, numbers with so many decimals (default: none). null: not measured. */
export function resultLine<Figures extends Readonly<Record<string, unknown>>>(
  bench: string,
  figures: Figures,
  decimals: Partial<Record<keyof Figures, number>>,
): string {
  const rounded = Object.entries(figures).map(([name, value]) => [
    name,
    typeof value === 'number' ? Number(value.toFixed(decimals[name] ?? 0)) : value,
  ]);
  return JSON.stringify({ bench, ...Object.fromEntries(rounded) });
}
