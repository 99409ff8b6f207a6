import { DAY_MS, nowMs as now } from './clock.js';

const KINDS = {
  clock: { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false },
  minute: { hour: '2-digit', minute: '2-digit' },
  date: { year: 'numeric', month: 'short', day: 'numeric' },
  day: { month: 'short', day: 'numeric' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>;
/** Of a year with four digits, the only ones that the API takes. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
/** One takes many times as long to make as to use, and a table that scrolls shows a hundred moments per frame. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** `14:03:07` in the zone of the reader; with the day unless it is today's. */
export function momentText(iso: string, nowMs: number, timeZone?: string): string {
  const atMs = Date.parse(iso);
  const clock = formatted(atMs, 'clock', timeZone);
  const day = formatted(atMs, 'date', timeZone);
  return day === formatted(nowMs, 'date', timeZone) ? clock : `${day}, ${clock}`;
}

/** A format keeps the zone that it was made in, and a laptop may be opened in another one. */
function formatted(atMs: number, kind: keyof typeof KINDS, timeZone?: string): string {
  if (Number.isNaN(atMs)) return String(new Date(atMs));
  const key = `${kind} ${timeZone ?? String(new Date(now()).getTimezoneOffset())}`;
  const format = FORMATS.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...KINDS[kind], timeZone });
  FORMATS.set(key, format);
  return format.format(atMs);
}

/** The same with its day, whatever day it is: `20 Mar 2026, 14:03:07`. */
export function datedText(iso: string, timeZone?: string): string {
  return momentText(iso, Date.parse(iso) - 2 * DAY_MS, timeZone);
}

/** The same to the millisecond, where moments are compared: `14:03:07.250`. */
export function exactMomentText(iso: string, nowMs: number, timeZone?: string): string {
  return `${momentText(iso, nowMs, timeZone)}.${iso.slice(20, 23).padEnd(3, '0')}`;
}

/** For an input of a date and time, which knows no zone: that of the reader, to the second. '' for ''. */
export function localInputText(iso: string): string {
  if (iso === '') return '';
  const moment = new Date(iso);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * What such an input stands for, '' for ''. Untouched it is the moment that it was filled with: its text has no
 * milliseconds, and in the hour that comes twice when a clock is set back it means the first.
 */
export function isoOfInput(text: string, filledWith = ''): string {
  if (text === '') return '';
  const atMs = Date.parse(text);
  // A browser takes years of five digits, and what is the last of 9999 in the zone of the reader may be later in UTC.
  if (Number.isNaN(atMs) || atMs > LAST_MS) return '';
  // A browser may leave out seconds of zero.
  return atMs === Date.parse(localInputText(filledWith)) ? filledWith : new Date(atMs).toISOString();
}

/** `Europe/Berlin`, where the reader is. */
export function zoneText(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A unit and its seconds, then those of the remainder. */
const MINUTE = ['min', 60, 's', 1] as const;
const LONG_UNITS = [['d', 86_400, 'h', 3_600], ['h', 3_600, 'min', 60], MINUTE] as const;

/** `12 ms`, `1.25 s`, `4 min 10 s`, `3 h 20 min`, `2 d`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${String(Math.round(ms))} ms`;
  if (ms < 60_000) return `${String(Math.round(ms / 10) / 100)} s`;
  const seconds = Math.round(ms / 1_000);
  const [unit, unitSeconds, restUnit, restSeconds] = LONG_UNITS.find((one) => seconds >= one[1]) ?? MINUTE;
  const text = `${String(Math.floor(seconds / unitSeconds))} ${unit}`;
  const rest = Math.floor((seconds % unitSeconds) / restSeconds);
  return rest === 0 ? text : `${text} ${String(rest)} ${restUnit}`;
}

/** `14:03` in the zone of the reader. */
export function clockText(iso: string, timeZone?: string): string {
  return formatted(Date.parse(iso), 'minute', timeZone);
}

/** `20 Mar` in the zone of the reader. */
export function dayText(iso: string, timeZone?: string): string {
  return formatted(Date.parse(iso), 'day', timeZone);
}

/** `12,345`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 0 });
}

/** `99.95 %`, and `100 %` only when it is that. */
export function shareText(share: number): string {
  const percent = Math.floor(share * 10_000) / 100;
  return `${percent.toLocaleString('en-US', { maximumFractionDigits: 2 })} %`;
}
