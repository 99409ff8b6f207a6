import { Counter, type Registry } from 'prom-client';

export interface PingMetrics {
  /** accepted, late, duplicate, expired or rejected. */
  pingDecided(decision: string): void;
  eventEmitted(eventType: string): void;
}

export const createPingMetrics = (registry: Registry): PingMetrics => {
  const pings = new Counter({
    name: 'waypost_pings_total',
    help: 'Pings by what was decided of them.',
    labelNames: ['decision'],
    registers: [registry],
  });
  const events = new Counter({
    name: 'waypost_events_total',
    help: 'Events made, by type.',
    labelNames: ['event_type'],
    registers: [registry],
  });
  return {
    pingDecided: (decision) => {
      pings.inc({ decision });
    },
    eventEmitted: (eventType) => {
      events.inc({ event_type: eventType });
    },
  };
};
