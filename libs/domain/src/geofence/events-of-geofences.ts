import type { FleetEvent } from '../event/fleet-event.js';
import type { GeofenceDecision } from './decide-geofences.js';
import type { NamedGeofence } from './geofence-version.js';

/**
 * The events of a decision, geofence_out before geofence_in.
 *
 * @param common what every event of the ping carries
 */
export function eventsOfGeofences({ left, entered }: GeofenceDecision, common: FleetEvent): FleetEvent[] {
  const of = (eventType: 'geofence_in' | 'geofence_out', { geofenceId, name }: NamedGeofence): FleetEvent => ({
    ...common,
    eventType,
    resourceId: geofenceId,
    geofenceId,
    geofenceName: name,
  });
  return [
    ...left.map(({ geofence, enteredAt }) => ({
      ...of('geofence_out', geofence),
      enteredAt,
      durationInSeconds: enteredAt === null ? null : (common.eventTime - enteredAt) / 1000,
    })),
    ...entered.map((geofence) => of('geofence_in', geofence)),
  ];
}
