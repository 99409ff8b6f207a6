import type { GeofenceHistory } from '@waypost/domain';
import { Counter, Gauge, type Registry } from 'prom-client';

export interface PingMetrics {
  /** accepted, late, duplicate, expired or rejected. */
  pingDecided(decision: string): void;
  eventEmitted(eventType: string): void;
}

export function createPingMetrics(registry: Registry): PingMetrics {
  return {
    pingDecided: countBy(registry, 'waypost_pings_total', 'Pings by what was decided of them.', 'decision'),
    eventEmitted: countBy(registry, 'waypost_events_total', 'Events made, by type.', 'event_type'),
  };
}

/** Counts in a plain map that the metric takes over when it is read: a labelled increment costs as much as a rule. */
function countBy(registry: Registry, name: string, help: string, label: string): (value: string) => void {
  const counts = new Map<string, number>();
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      for (const [value, count] of counts) this.inc({ [label]: value }, count);
      counts.clear();
    },
  });
  return (value) => {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  };
}

export function observeGeofences(registry: Registry, history: GeofenceHistory): void {
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
}
