const FIRST_MS = 100;
const LONGEST_MS = 5_000;
/** A process that lived this long is taken to have been well. */
export const SOUND_LIFE_MS = 30_000;

/** How many deaths in a row came too early, the last one after `livedMs` included. */
export function earlyDeathsAfter(livedMs: number, before: number): number {
  return livedMs >= SOUND_LIFE_MS ? 1 : before + 1;
}

/** How long to wait before the process is started again: 100 ms at first, doubling to 5 s. */
export function restartDelayMs(earlyDeaths: number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(earlyDeaths - 1, 20));
}
