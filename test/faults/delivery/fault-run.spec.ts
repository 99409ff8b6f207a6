import { describe, expect, it } from '@jest/globals';
import { SESSION_TIMEOUT_MS } from '../shared/app-instance.js';
import { durationOf } from '../shared/fault.js';
import { makeDeliverySchedule } from './fault-run.js';

const options = { seed: 1, durationMs: 300_000, instances: 3, running: 2 };
function kinds(instances: number, running: number): string[] {
  return [...new Set(makeDeliverySchedule({ ...options, instances, running }).map(({ fault }) => fault.kind))];
}

describe('a schedule of faults of webhook-delivery', () => {
  it('is decided by its options', () => {
    expect(makeDeliverySchedule(options)).toEqual(makeDeliverySchedule(options));
    expect(makeDeliverySchedule(options)).not.toEqual(makeDeliverySchedule({ ...options, seed: 2 }));
  });

  const ALONE = [
    ...[
      'broker-full',
      'broker-kill',
      'broker-restart',
      'network-cut',
      'network-delay',
      'network-hole',
      'processor-kill',
    ],
    ...['processor-pause', 'processor-replace', 'processor-restart', 'registry-hole'],
  ];

  it('has every kind of fault: of processes, of the broker, of the network, and instances that join and leave', () => {
    expect(kinds(3, 2).sort()).toEqual([...ALONE, 'processor-join', 'processor-leave'].sort());
  });

  it('runs to its end with one instance, which can neither leave nor be joined', () => {
    expect(kinds(1, 1).sort()).toEqual(ALONE);
    const schedule = makeDeliverySchedule({ ...options, instances: 1, running: 1 });
    expect(schedule.at(-1)?.atMs).toBeGreaterThan(options.durationMs - 30_000);
  });

  it.each([1, 2, 3])(
    'stops processes for longer than the session timeout, so that zombies wake up (seed %i)',
    (seed) => {
      const pauses = makeDeliverySchedule({ ...options, seed }).filter(({ fault }) => fault.kind === 'processor-pause');
      expect(Math.max(...pauses.map(({ fault }) => durationOf(fault)))).toBeGreaterThan(SESSION_TIMEOUT_MS);
    },
  );
});
