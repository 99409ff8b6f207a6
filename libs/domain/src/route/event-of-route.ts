import { draftEvent, type FleetEventDraft } from '../event/draft-event.js';
import { resourceIdOf } from '../event/event-id.js';
import { textOrNull } from '../ping/reported-values.js';
import type { FleetEvent } from '../records/fleet-event.js';
import type { TelemetryPing } from '../records/telemetry-ping.js';

/** time and location are those of the change. The ping's other measurements are of a later moment, so they stay unknown. */
export function eventOfRoute(change: RouteChange, ping: TelemetryPing): FleetEvent {
  const { fleetId, deviceId } = ping;
  const isRoute = change.type === 'route_started' || change.type === 'route_finished';
  const startTime = 'startTime' in change ? change.startTime : change.time;
  const resourceId = resourceIdOf({ fleetId, deviceId, kind: isRoute ? 'route' : 'stop', startTime });
  const fixTime = 'fixTime' in change ? change.fixTime : change.time;
  const event = draftEvent(fleetId, deviceId, change.type, change.time);
  event.resourceId = resourceId;
  event.vehicleId = textOrNull(ping.vehicleId);
  event.licensePlate = textOrNull(ping.licensePlate);
  event.driverId = textOrNull(ping.driverId);
  event.latitude = change.latitude;
  event.longitude = change.longitude;
  event.locationTime = fixTime < change.time ? fixTime : null;
  event.startTime = startTime;
  if (isRoute) event.routeId = resourceId;
  else event.activityId = resourceId;
  addDetails(event, change);
  return event;
}

function addDetails(event: FleetEventDraft, change: RouteChange): void {
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

function addEnd(
  event: FleetEventDraft,
  { time, startTime }: { readonly time: number; readonly startTime: number },
): void {
  event.endTime = time;
  event.durationInSeconds = (time - startTime) / 1_000;
}

function addFigures(event: FleetEventDraft, route: RouteFinished): void {
  const kilometersPerHour = (route.distanceInMeters * 3_600) / (route.time - route.startTime);
  event.startLocation = route.startLocation;
  event.endLocation = { latitude: route.latitude, longitude: route.longitude };
  event.distanceInMeters = Math.round(route.distanceInMeters);
  event.maxSpeedInKmh = route.maxSpeedInKmh;
  event.averageSpeedInKmh = Math.round(kilometersPerHour * 10) / 10;
  event.idleTimeInSeconds = route.idleMs === null ? null : route.idleMs / 1_000;
  event.endReason = route.endReason;
}

export type RouteEndReason = 'ignition_off' | 'stationary' | 'no_data';

interface ChangeAt {
  readonly time: number;
  readonly latitude: number;
  readonly longitude: number;
}

export interface RouteFinished extends ChangeAt {
  readonly type: 'route_finished';
  readonly startTime: number;
  readonly startLocation: { readonly latitude: number; readonly longitude: number };
  readonly fixTime: number;
  readonly distanceInMeters: number;
  readonly maxSpeedInKmh: number | null;
  readonly idleMs: number | null;
  readonly endReason: RouteEndReason;
}

export type RouteChange =
  | (ChangeAt & { readonly type: 'stop_finished'; readonly startTime: number })
  | (ChangeAt & { readonly type: 'route_started' })
  | RouteFinished
  | (ChangeAt & { readonly type: 'stop_started'; readonly fixTime: number });
