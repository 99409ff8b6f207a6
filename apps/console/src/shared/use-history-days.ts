import { useSession } from '../session/session.js';
import { DAY_MS } from './clock.js';

/** For how long the history keeps deliveries; null: not known so far. */
export function useHistoryDays(): number | null {
  const { info } = useSession();
  return info === null ? null : Math.round(info.historyRetentionMs / DAY_MS);
}
