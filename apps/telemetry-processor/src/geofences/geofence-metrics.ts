import type { GeofenceHistory } from '@waypost/domain';
import { Gauge, type Registry } from 'prom-client';

/** Counted when they are read. */
export const observeGeofences = (registry: Registry, history: GeofenceHistory): void => {
  new Gauge({
    name: 'waypost_geofence_fleets',
    help: 'Fleets of which geofences are known.',
    registers: [registry],
    collect() {
      this.set(history.fleetCount);
    },
  });
  new Gauge({
    name: 'waypost_geofence_versions',
    help: 'Versions of geofences in memory: those in force and those that pings of the last days have seen.',
    registers: [registry],
    collect() {
      this.set(history.versionCount);
    },
  });
};
