import type { DeviceState, RouteProgress, Trip } from '@waypost/domain';

/** What is read from the store is a view, whose fields are not its own. */
export const plainState = (state: DeviceState): DeviceState => ({
  ...{ newestEventTime: state.newestEventTime, ignition: state.ignition, lastSentTime: state.lastSentTime },
  ...{ armed: state.armed, fixTime: state.fixTime, latitude: state.latitude, longitude: state.longitude },
  ...{ geofences: state.geofences, trip: state.trip && plainTrip(state.trip) },
});

export const plainTrip = (trip: Trip): Trip => ({
  ...{ since: trip.since, latitude: trip.latitude, longitude: trip.longitude, moving: trip.moving },
  ...{ maxSpeedInKmh: trip.maxSpeedInKmh, ignitionOffSince: trip.ignitionOffSince },
  route: trip.route && plainRoute(trip.route),
});

const plainRoute = (route: RouteProgress): RouteProgress => ({
  ...{ wayTime: route.wayTime, wayLatitude: route.wayLatitude, wayLongitude: route.wayLongitude },
  ...{ distanceInMeters: route.distanceInMeters, idleMs: route.idleMs, standing: route.standing },
  ignitionOffSince: route.ignitionOffSince,
});
