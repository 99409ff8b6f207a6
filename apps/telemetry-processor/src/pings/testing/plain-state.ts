import type { DeviceState, RouteProgress, Trip } from '@waypost/domain';

/** What is read from the store is a view, whose fields are not its own. */
export function plainState(state: DeviceState): DeviceState {
  return {
    newestEventTime: state.newestEventTime,
    ignition: state.ignition,
    lastSentTime: state.lastSentTime,
    armed: state.armed,
    fixTime: state.fixTime,
    latitude: state.latitude,
    longitude: state.longitude,
    geofences: state.geofences,
    trip: state.trip && plainTrip(state.trip),
  };
}

export function plainTrip(trip: Trip): Trip {
  return {
    since: trip.since,
    latitude: trip.latitude,
    longitude: trip.longitude,
    moving: trip.moving,
    maxSpeedInKmh: trip.maxSpeedInKmh,
    ignitionOffSince: trip.ignitionOffSince,
    route: trip.route && plainRoute(trip.route),
  };
}

function plainRoute(route: RouteProgress): RouteProgress {
  return {
    wayTime: route.wayTime,
    wayLatitude: route.wayLatitude,
    wayLongitude: route.wayLongitude,
    distanceInMeters: route.distanceInMeters,
    idleMs: route.idleMs,
    standing: route.standing,
    ignitionOffSince: route.ignitionOffSince,
    wayWithoutSpeed: route.wayWithoutSpeed,
  };
}
