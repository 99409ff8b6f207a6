import { useQuery } from '@tanstack/react-query';
import type { Geofence } from '@waypost/client';
import { useClient } from '../session/session.js';
import { firstOf, type Part } from '../shared/first-of.js';

const PAGE_ROWS = 1_000;
/** More than a map can show. */
const MOST = 2_000;
const NONE: Part<Geofence> = { items: [], hasMore: false };

/** For the map; without them it is as useful, so a failure is not one of the page. */
export function useGeofences(): Part<Geofence> {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['geofences'],
    queryFn: ({ signal }) => firstOf(client.pages('listGeofences', { limit: PAGE_ROWS }, { signal }), { items: MOST }),
  });
  return data ?? NONE;
}
