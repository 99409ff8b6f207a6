import { useQuery } from '@tanstack/react-query';
import type { Output } from '@waypost/client';
import { useClient } from '../session/session.js';

export type Fleet = Output<'getFleetById'>;

/** More than an operator reads; what is beyond is reached by its address. */
const MOST = 2_000;
const PAGE_ROWS = 200;

/** All fleets, for an operator. */
export function useFleets() {
  const client = useClient();
  return useQuery({
    queryKey: ['fleets'],
    queryFn: async ({ signal }) => {
      const fleets: Fleet[] = [];
      for await (const page of client.pages('listFleets', { limit: PAGE_ROWS }, { signal })) {
        fleets.push(...page.data);
        if (fleets.length >= MOST) break;
      }
      return fleets;
    },
    staleTime: 30_000,
  });
}

/** The fleets whose id or name has the text. */
export function fleetsWith(text: string, fleets: readonly Fleet[]): readonly Fleet[] {
  const words = text.trim().toLowerCase();
  return fleets.filter(({ id, name = '' }) => `${id} ${name}`.toLowerCase().includes(words));
}
