import type { Configuration } from '../sides/configuration.js';

/** From the first beginning to the last end of a restore, as the log of a process tells; null when it tells none. */
export function restoreWorkMs(side: Configuration['side'], log: string): number | null {
  const spans = log.split('\n').flatMap((line) => (side === 'ours' ? ourSpan(line) : theirSpan(line)));
  if (spans.length === 0) return null;
  return Math.max(...spans.map(({ endMs }) => endMs)) - Math.min(...spans.map(({ startMs }) => startMs));
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** A JSON line with the time of the end and the duration. */
function ourSpan(line: string): Span[] {
  if (!line.includes('store_restored')) return [];
  const { time, durationMs } = JSON.parse(line) as { time?: unknown; durationMs?: unknown };
  const endMs = typeof time === 'string' ? Date.parse(time) : Number(time);
  if (!Number.isFinite(endMs) || typeof durationMs !== 'number') return [];
  return [{ startMs: endMs - durationMs, endMs }];
}

/** `UPTIME ms restoring TOPIC-PARTITION`, and the same with `restored COUNT from`. */
function theirSpan(line: string): Span[] {
  const [, uptime] = /^(\d+) ms restor(?:ing|ed) /.exec(line) ?? [];
  return uptime === undefined ? [] : [{ startMs: Number(uptime), endMs: Number(uptime) }];
}
