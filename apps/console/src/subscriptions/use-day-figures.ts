import { useQuery } from '@tanstack/react-query';
import { DAY, windowOf } from '../overview/figure-ranges.js';
import { useClient } from '../session/session.js';
import { type DayFigures, dayFiguresOf } from './day-figures.js';

const EVERY_MS = 15_000;

interface KnownFigures {
  readonly figures: ReadonlyMap<string, DayFigures>;
  /** Where they begin, as those of the overview do. */
  readonly from: string;
}

/** Figures of the last day by subscription; null: not known, for example because the fleet has too many. */
export function useDayFigures(): KnownFigures | null {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['day-figures'],
    queryFn: async ({ signal }) => {
      const window = windowOf(DAY);
      const query = { ...window, step: DAY.step, groupBy: 'subscription', total: true } as const;
      const { data: totals } = await client.getMetrics(query, { signal });
      return { figures: dayFiguresOf(totals), from: window.startDate.toISOString() };
    },
    refetchInterval: EVERY_MS,
  });
  return data ?? null;
}
