import { parseInstant } from '@waypost/domain';
import { usageError } from './terminal/output.js';

const epochMs = /^\d{1,15}$/;

/** A time on the command line: as the API reads it, also with a space for the T, or epoch milliseconds. Returns epoch ms. */
export function parseTime(text: string): number {
  if (epochMs.test(text)) return Number(text);
  const parsed = parseInstant(text.replace(' ', 'T'));
  if (parsed.type === 'instant') return parsed.at;
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
