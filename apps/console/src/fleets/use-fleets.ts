import { useQuery } from '@tanstack/react-query';
import type { Output } from '@waypost/client';
import { useClient } from '../session/session.js';
import { firstOf, type Part } from '../shared/first-of.js';
import { countText } from '../shared/time-text.js';

export type Fleet = Output<'getFleetById'>;

/** More than an operator reads; what is beyond is reached by its address. */
const MOST = 2_000;
const PAGE_ROWS = 200;

/** The first fleets, for an operator. */
export function useFleets() {
  const client = useClient();
  return useQuery({
    queryKey: ['fleets'],
    queryFn: ({ signal }) => firstOf(client.pages('listFleets', { limit: PAGE_ROWS }, { signal }), { items: MOST }),
    staleTime: 30_000,
  });
}

/** The fleets whose id or name has the text. */
export function fleetsWith(text: string, fleets: readonly Fleet[]): readonly Fleet[] {
  const words = text.trim().toLowerCase();
  return fleets.filter(({ id, name = '' }) => `${id} ${name}`.toLowerCase().includes(words));
}

/** For when none of them has it. */
export function notFoundText({ items, hasMore }: Part<Fleet>): string {
  return `${hasMore ? `None of the first ${countText(items.length)} fleets` : 'No fleet'} has this in its id or name`;
}
