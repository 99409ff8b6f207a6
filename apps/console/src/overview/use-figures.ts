import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useClient } from '../session/session.js';
import { type FigureRange, windowOf } from './figure-ranges.js';
import { columnsOf } from './figures.js';

const EVERY_MS = 5_000;

/** The columns of a range, of the fleet or of one of its subscriptions, read again and again. */
export function useFigures(range: FigureRange, subscriptionId?: string) {
  const client = useClient();
  const { step, columns } = range;
  return useQuery({
    queryKey: ['figures', step, columns, subscriptionId],
    queryFn: async ({ signal }) => {
      const window = windowOf(range);
      const query = { ...window, step, ...(subscriptionId !== undefined && { subscriptionId }) };
      const { data } = await client.getMetrics(query, { signal });
      return columnsOf(data, window.startDate.getTime(), window.endDate.getTime(), step);
    },
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });
}
