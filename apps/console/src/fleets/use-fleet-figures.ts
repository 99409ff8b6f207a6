import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FigureRange, windowOf } from '../overview/figure-ranges.js';
import { columnsOf } from '../overview/figures.js';
import { useClient } from '../session/session.js';
import { columnMinutesOf, totalsWindowOf } from './fleet-window.js';

const EVERY_MS = 10_000;
/** The most that one answer has. */
const MOST_FLEETS = 1_000;

/** How the deliveries of all fleets went over time, and which fleets had the worst, read again and again. */
export function useFleetFigures(range: FigureRange) {
  const client = useClient();
  const { step, columns } = range;
  return useQuery({
    queryKey: ['fleet-figures', step, columns],
    queryFn: async ({ signal }) => {
      const window = windowOf(range);
      const totalsWindow = totalsWindowOf(window, step);
      const [{ data }, totals] = await Promise.all([
        client.getMetricsOfAllFleets({ ...window, step }, { signal }),
        client.getFleetTotals({ ...window, step: totalsWindow.step, limit: MOST_FLEETS }, { signal }),
      ]);
      return {
        columns: columnsOf(data, window.startDate.getTime(), window.endDate.getTime(), step),
        minutes: columnMinutesOf(window, step),
        totals,
        totalsWindow,
      };
    },
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });
}
