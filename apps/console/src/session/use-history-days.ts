import { useSession } from './session.js';

const DAY_MS = 86_400_000;

/** For how long the history keeps deliveries; null: not known so far. */
export function useHistoryDays(): number | null {
  const { info } = useSession();
  return info === null ? null : Math.round(info.historyRetentionMs / DAY_MS);
}
