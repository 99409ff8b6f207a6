import { useQuery } from '@tanstack/react-query';
import { useClient } from '../session/session.js';
import { DAY_MS, nowMs } from '../shared/clock.js';
import { type DayFigures, dayFiguresOf } from './day-figures.js';

const EVERY_MS = 15_000;

/** Figures of the last day by subscription; null: not known, for example because the fleet has too many. */
export function useDayFigures(): ReadonlyMap<string, DayFigures> | null {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['day-figures'],
    queryFn: async ({ signal }) => {
      const [startDate, endDate] = [new Date(nowMs() - DAY_MS), new Date(nowMs())];
      const query = { startDate, endDate, step: 'hour', groupBy: 'subscription', total: true } as const;
      return dayFiguresOf((await client.getMetrics(query, { signal })).data);
    },
    refetchInterval: EVERY_MS,
  });
  return data ?? null;
}
