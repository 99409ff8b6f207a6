/** Avro's double may be NaN or infinite; JSON has no such number. */
export function finiteOrNull(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** from 0 up to but not including 360. */
export function headingOrNull(value: number | null): number | null {
  return value !== null && value >= 0 && value < 360 ? value : null;
}

/** R-13 sends no empty text. */
export function textOrNull(value: string | null): string | null {
  return value === '' ? null : value;
}
