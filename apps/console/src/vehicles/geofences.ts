import { useQuery } from '@tanstack/react-query';
import type { Geofence } from '@waypost/client';
import { useClient } from '../session/session.js';

const SHOWN = 200;
const NONE: readonly Geofence[] = [];

/** For the map; without them it is as useful, so a failure is not one of the page. */
export function useGeofences(): readonly Geofence[] {
  const client = useClient();
  const { data } = useQuery({
    queryKey: ['geofences'],
    queryFn: ({ signal }) => client.listGeofences({ limit: SHOWN }, { signal }),
  });
  return data?.data ?? NONE;
}
