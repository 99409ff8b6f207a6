import { Gauge, type Registry } from 'prom-client';
import type { DeliveryScheduler } from './delivery-scheduler.js';

export function registerSchedulerGauges(scheduler: DeliveryScheduler, registry: Registry): void {
  const { reservations, options } = scheduler;
  const registers = [registry];
  new Gauge({
    name: 'waypost_reservations',
    help: 'Deliveries that have begun and are not finished. At the limit, no new one begins.',
    registers,
    collect() {
      this.set(reservations.total);
    },
  });
  new Gauge({
    name: 'waypost_reservations_limit',
    help: 'Maximum number of deliveries in progress in this process.',
    registers,
  }).set(options.reservations.total);
  new Gauge({
    name: 'waypost_attempt_slots_busy',
    help: 'Attempts that keep this process busy: connecting, writing, or waiting briefly for a status line.',
    registers,
    collect() {
      this.set(scheduler.inFlight);
    },
  });
  new Gauge({
    name: 'waypost_headroom_ratio',
    help: 'Fraction of its time that this process may spend on first attempts and fan-out; less than 1 while retries start late.',
    registers,
    collect() {
      this.set(options.headroom.share());
    },
  });
}
