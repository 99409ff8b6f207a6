/** When a question was put and its answer was there, in epoch milliseconds. */
export interface Asked {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** How far another clock is ahead at least, given what it said meanwhile; negative: behind. */
export function clockSkewMs(said: number, { startedAt, endedAt }: Asked): number {
  return Math.max(said - endedAt, 0) + Math.min(said - startedAt, 0);
}
