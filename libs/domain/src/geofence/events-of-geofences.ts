import type { EventType } from '../event/event-type.js';
import type { FleetEvent, FleetEventDraft } from '../event/fleet-event.js';
import type { GeofenceDecision } from './decide-geofences.js';
import type { NamedGeofence } from './geofence-version.js';

/**
 * The events of a decision, geofence_out before geofence_in.
 *
 * @param draft gives a new one with what every event of the ping carries
 */
export function eventsOfGeofences(
  { left, entered }: GeofenceDecision,
  draft: (eventType: EventType) => FleetEventDraft,
): FleetEvent[] {
  const events: FleetEvent[] = [];
  for (const { geofence, enteredAt } of left) {
    const event = named(draft('geofence_out'), geofence);
    event.enteredAt = enteredAt;
    event.durationInSeconds = enteredAt === null ? null : (event.eventTime - enteredAt) / 1000;
    events.push(event);
  }
  for (const geofence of entered) events.push(named(draft('geofence_in'), geofence));
  return events;
}

function named(event: FleetEventDraft, { geofenceId, name }: NamedGeofence): FleetEventDraft {
  event.resourceId = geofenceId;
  event.geofenceId = geofenceId;
  event.geofenceName = name;
  return event;
}
