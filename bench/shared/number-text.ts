/** 1234567 as `1,234,567`. */
export function counted(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Rates as `312k`. */
export function thousands(value: number): string {
  return `${(value / 1000).toFixed(0)}k`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

export function times(ratio: number): string {
  return `${ratio.toFixed(2)}x`;
}
