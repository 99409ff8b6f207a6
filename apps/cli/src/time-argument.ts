import { usageError } from './terminal/output.js';

const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const epochMs = /^\d{1,15}$/;

/** A time on the command line: RFC 3339 with a zone, or epoch milliseconds. Returns epoch ms. */
export function parseTime(text: string): number {
  if (epochMs.test(text)) return Number(text);
  const at = rfc3339.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(at)) return at;
  throw usageError(`"${text}" is not a time: write 2026-01-31T12:00:00Z, or epoch milliseconds.`);
}

/** A positive number, e.g. of seconds or a rate. */
export function parsePositive(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  throw usageError(`"${text}" is not a number above 0.`);
}

export function parseList(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.every((item) => item !== '')) return items;
  throw usageError(`"${text}" is not a comma-separated list.`);
}
