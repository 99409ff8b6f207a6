/** Avro's double may be NaN or infinite; JSON has no such number. */
export function finiteOrNull(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}

/** A speed has no sign: some devices report -1 for an unknown one. */
export function speedOrNull(value: number | null): number | null {
  return value !== null && value >= 0 && value < Infinity ? value : null;
}

/** 0 up to but not including 360. */
export function headingOrNull(value: number | null): number | null {
  return value !== null && value >= 0 && value < 360 ? value : null;
}

const MAX_TEXT_LENGTH = 256;

/** R-13 sends no empty text. Each event of a ping repeats a text, so one of any length would be multiplied (decision 0011). */
export function textOrNull(value: string | null): string | null {
  return value === null || value === '' || value.length > MAX_TEXT_LENGTH ? null : value;
}
