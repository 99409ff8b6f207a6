import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';
import { travel } from './journey.js';
import { ping, second } from './track.js';

/** Routes and stops, each with the second at which it happened, by the ping that made it. */
export function tripsOf(pings: readonly TelemetryPing[]): Record<number, string[]> {
  const found: Record<number, string[]> = {};
  travel(pings).decisions.forEach((decision, index) => {
    const at = ((pings[index]?.eventTime ?? NaN) - second(0)) / 1_000;
    if (decision.type !== 'accepted') return;
    const events = decision.events.filter(isTripEvent);
    if (events.length > 0) found[at] = events.map((event) => `${event.eventType} ${String(secondOf(event))}`);
  });
  return found;
}

function isTripEvent({ eventType }: FleetEvent): boolean {
  return /^(route|stop)_/.test(eventType);
}

function secondOf({ eventTime }: FleetEvent): number {
  return (eventTime - second(0)) / 1_000;
}

export function tripEvents(pings: readonly TelemetryPing[]): FleetEvent[] {
  return travel(pings).decisions.flatMap((decision) =>
    decision.type === 'accepted' ? decision.events.filter(isTripEvent) : [],
  );
}

export function finished(pings: readonly TelemetryPing[]): FleetEvent | undefined {
  return tripEvents(pings).find(({ eventType }) => eventType === 'route_finished');
}

/** On the road since second 10, as second 20 shows: 40 km/h, 11.1 m a second. */
export const setOff: readonly TelemetryPing[] = [
  ping(0, { speed: 0, ignition: true }),
  ping(10, { speed: 40, north: 100 }),
  ping(20, { speed: 40, north: 211 }),
];
