import { Gauge, type Registry } from 'prom-client';
import type { DeliveryScheduler } from './delivery-scheduler.js';

export function withGauges(scheduler: DeliveryScheduler, registry: Registry): DeliveryScheduler {
  const { reservations, options } = scheduler;
  const registers = [registry];
  new Gauge({
    name: 'waypost_reservations',
    help: 'Deliveries that were begun and are not finished. At the limit, nothing new begins.',
    registers,
    collect() {
      this.set(reservations.total);
    },
  });
  new Gauge({
    name: 'waypost_reservations_limit',
    help: 'How many deliveries this process may have begun.',
    registers,
  }).set(options.reservations.total);
  new Gauge({
    name: 'waypost_attempt_slots_busy',
    help: 'Attempts that keep this process busy: connecting, writing, or waiting shortly for a status line.',
    registers,
    collect() {
      this.set(scheduler.inFlight);
    },
  });
  new Gauge({
    name: 'waypost_headroom_ratio',
    help: 'The part of its time that this process may spend on first attempts and fan-out: less than 1 while retries start late.',
    registers,
    collect() {
      this.set(options.headroom.share());
    },
  });
  return scheduler;
}
