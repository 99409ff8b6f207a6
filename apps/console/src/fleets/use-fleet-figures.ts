import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FigureRange, windowOf } from '../overview/figure-ranges.js';
import { columnsOf, STEP_MS } from '../overview/figures.js';
import { useClient } from '../session/session.js';

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
      const [startMs, endMs] = [window.startDate.getTime(), window.endDate.getTime()];
      const [{ data }, totals] = await Promise.all([
        client.getMetricsOfAllFleets({ ...window, step }, { signal }),
        client.getFleetTotals({ ...window, step, limit: MOST_FLEETS }, { signal }),
      ]);
      // The API widens the window to a whole bucket at its start.
      const minutes = (endMs - Math.floor(startMs / STEP_MS[step]) * STEP_MS[step]) / STEP_MS.minute;
      return { columns: columnsOf(data, startMs, endMs, step), totals, minutes };
    },
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });
}
