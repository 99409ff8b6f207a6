import { useMemo } from 'react';
import { useSession } from '../session/session.js';
import { type Place, type Places, placesOf } from './places.js';

/** The pages of the menu, for the one who is signed in. */
export function usePlaces(): Places & { readonly all: readonly Place[] } {
  const { info, isOperator, fleetId } = useSession();
  return useMemo(() => {
    const places = placesOf(info ?? (isOperator ? { type: 'admin', fleetId, scopes: null } : null));
    return { ...places, all: [...places.fleet, ...places.installation] };
  }, [info, isOperator, fleetId]);
}
