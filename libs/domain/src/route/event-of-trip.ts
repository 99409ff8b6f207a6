import { NO_DETAILS, type FleetEvent } from '../event/fleet-event.js';
import { textOrNull } from '../telemetry/event-of-ping.js';
import type { TelemetryPing } from '../telemetry/telemetry-ping.js';
import { resourceIdOf } from './resource-id.js';
import type { RouteFinished, TripChange } from './trip-change.js';

/**
 * The event of a change. Its time is when it happened, not when the ping came that shows it, and its location is
 * the one of that time; what else the ping measured is of a later moment and stays unknown.
 */
export function eventOfTrip(change: TripChange, ping: TelemetryPing): FleetEvent {
  switch (change.type) {
    case 'route_started':
      return routeEvent(change, ping, change.time, {
        startLocation: { latitude: change.latitude, longitude: change.longitude },
      });
    case 'route_finished':
      return routeEvent(change, ping, change.startTime, figuresOf(change));
    case 'stop_started':
      return stopEvent(change, ping, change.time, {});
    case 'stop_finished':
      return stopEvent(change, ping, change.startTime, endOf(change));
  }
}

type Details = Partial<FleetEvent>;

function routeEvent(change: TripChange, ping: TelemetryPing, startTime: number, details: Details): FleetEvent {
  const routeId = resourceIdOf({ fleetId: ping.fleetId, deviceId: ping.deviceId, kind: 'route', startTime });
  return { ...eventAt(change, ping), resourceId: routeId, routeId, startTime, ...details };
}

function stopEvent(change: TripChange, ping: TelemetryPing, startTime: number, details: Details): FleetEvent {
  const activityId = resourceIdOf({ fleetId: ping.fleetId, deviceId: ping.deviceId, kind: 'stop', startTime });
  return { ...eventAt(change, ping), resourceId: activityId, activityId, startTime, ...details };
}

function endOf({ time, startTime }: { readonly time: number; readonly startTime: number }): Details {
  return { endTime: time, durationInSeconds: (time - startTime) / 1_000 };
}

function figuresOf(route: RouteFinished): Details {
  const kilometersPerHour = (route.distanceInMeters * 3_600) / (route.time - route.startTime);
  return {
    ...endOf(route),
    startLocation: route.startLocation,
    endLocation: { latitude: route.latitude, longitude: route.longitude },
    distanceInMeters: Math.round(route.distanceInMeters),
    maxSpeedInKmh: route.maxSpeedInKmh,
    averageSpeedInKmh: Math.round(kilometersPerHour * 10) / 10,
    idleTimeInSeconds: route.idleMs === null ? null : route.idleMs / 1_000,
    endReason: route.endReason,
  };
}

function eventAt(change: TripChange, ping: TelemetryPing): FleetEvent {
  const fixTime = 'fixTime' in change ? change.fixTime : change.time;
  return {
    fleetId: ping.fleetId,
    deviceId: ping.deviceId,
    eventType: change.type,
    eventTime: change.time,
    resourceId: null,
    vehicleId: textOrNull(ping.vehicleId),
    licensePlate: textOrNull(ping.licensePlate),
    driverId: textOrNull(ping.driverId),
    latitude: change.latitude,
    longitude: change.longitude,
    locationTime: fixTime < change.time ? fixTime : null,
    altitudeInMeters: null,
    speedInKmh: null,
    heading: null,
    ignition: null,
    odometerInMeters: null,
    batteryVoltage: null,
    connectionType: null,
    rpm: null,
    fuelLevel: null,
    ...NO_DETAILS,
  };
}
