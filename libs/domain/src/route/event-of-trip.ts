import { NO_DETAILS, NO_MEASUREMENTS, type FleetEvent } from '../event/fleet-event.js';
import { textOrNull } from '../telemetry/event-of-ping.js';
import type { TelemetryPing } from '../telemetry/telemetry-ping.js';
import { resourceIdOf } from './resource-id.js';
import type { RouteFinished, TripChange } from './trip-change.js';

/**
 * The event of a change. Its time is when it happened, not when the ping came that shows it, and its location is
 * the one of that time; what else the ping measured is of a later moment and stays unknown.
 */
export function eventOfTrip(change: TripChange, ping: TelemetryPing): FleetEvent {
  const { fleetId, deviceId } = ping;
  const isRoute = change.type === 'route_started' || change.type === 'route_finished';
  const startTime = 'startTime' in change ? change.startTime : change.time;
  const resourceId = resourceIdOf({ fleetId, deviceId, kind: isRoute ? 'route' : 'stop', startTime });
  const fixTime = 'fixTime' in change ? change.fixTime : change.time;
  const event: Draft = {
    fleetId,
    deviceId,
    eventType: change.type,
    eventTime: change.time,
    resourceId,
    vehicleId: textOrNull(ping.vehicleId),
    licensePlate: textOrNull(ping.licensePlate),
    driverId: textOrNull(ping.driverId),
    latitude: change.latitude,
    longitude: change.longitude,
    locationTime: fixTime < change.time ? fixTime : null,
    ...NO_MEASUREMENTS,
    ...NO_DETAILS,
  };
  event.startTime = startTime;
  if (isRoute) event.routeId = resourceId;
  else event.activityId = resourceId;
  addDetails(event, change);
  return event;
}

/** Filled in field by field: objects of many shapes that are spread into each other cost more than all else of an event. */
type Draft = { -readonly [Field in keyof FleetEvent]: FleetEvent[Field] };

function addDetails(event: Draft, change: TripChange): void {
  switch (change.type) {
    case 'route_started':
      event.startLocation = { latitude: change.latitude, longitude: change.longitude };
      return;
    case 'stop_started':
      return;
    case 'stop_finished':
      addEnd(event, change);
      return;
    case 'route_finished':
      addEnd(event, change);
      addFigures(event, change);
  }
}

function addEnd(event: Draft, { time, startTime }: { readonly time: number; readonly startTime: number }): void {
  event.endTime = time;
  event.durationInSeconds = (time - startTime) / 1_000;
}

function addFigures(event: Draft, route: RouteFinished): void {
  const kilometersPerHour = (route.distanceInMeters * 3_600) / (route.time - route.startTime);
  event.startLocation = route.startLocation;
  event.endLocation = { latitude: route.latitude, longitude: route.longitude };
  event.distanceInMeters = Math.round(route.distanceInMeters);
  event.maxSpeedInKmh = route.maxSpeedInKmh;
  event.averageSpeedInKmh = Math.round(kilometersPerHour * 10) / 10;
  event.idleTimeInSeconds = route.idleMs === null ? null : route.idleMs / 1_000;
  event.endReason = route.endReason;
}
