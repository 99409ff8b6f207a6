import { Counter, Gauge, type Registry } from 'prom-client';

export interface ReplayMetrics {
  deliveriesReplayed(count: number): void;
  unfinishedChanged(by: number): void;
}

export const createReplayMetrics = (registry: Registry): ReplayMetrics => {
  const registers = [registry];
  const replayed = new Counter({
    name: 'waypost_replayed_deliveries_total',
    help: 'Deliveries written again by replays.',
    registers,
  });
  const unfinished = new Gauge({
    name: 'waypost_replays_unfinished',
    help: 'Replays of the partitions of this process that are not over.',
    registers,
  });
  return {
    deliveriesReplayed: (count) => {
      replayed.inc(count);
    },
    unfinishedChanged: (by) => {
      unfinished.inc(by);
    },
  };
};
