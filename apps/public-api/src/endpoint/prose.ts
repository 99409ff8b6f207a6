import { DAY_MS, HOUR_MS, MINUTE_MS } from '@waypost/domain';

const SECOND_MS = 1_000;
const UNITS = [
  [DAY_MS, 'days'],
  [HOUR_MS, 'hours'],
  [MINUTE_MS, 'minutes'],
] as const;

/** For descriptions and messages, so that a limit has one place: in the largest unit of which it has at least two. */
export function durationText(ms: number): string {
  const [unitMs, name] = UNITS.find(([each]) => ms >= 2 * each) ?? [SECOND_MS, 'seconds'];
  return `${countText(ms / unitMs)} ${name}`;
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}
