import { Gauge, type Registry } from 'prom-client';
import type { GeofenceHistory } from '@waypost/domain';

export function observeGeofences(registry: Registry, history: GeofenceHistory): void {
  new Gauge({
    name: 'waypost_geofence_fleets',
    help: 'Fleets with at least one geofence in memory.',
    registers: [registry],
    collect() {
      this.set(history.fleetCount);
    },
  });
  new Gauge({
    name: 'waypost_geofence_versions',
    help: 'Versions of geofences in memory: current ones, and those that recent pings have seen.',
    registers: [registry],
    collect() {
      this.set(history.versionCount);
    },
  });
}
