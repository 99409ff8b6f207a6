import type { FaultKind, ScheduledFault } from '../../processor/schedule/fault.js';
import { makeSchedule } from '../../processor/schedule/make-schedule.js';
import { SESSION_TIMEOUT_MS } from '../../processor/run/stage.js';
import { PARTITIONS } from '../stage/delivery-stage.js';

export interface DeliveryScheduleOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly instances: number;
  /** How many of them are up at the start. */
  readonly running: number;
}

const EVERY_MS = 3_000;
const ALONE: readonly FaultKind[] = [
  ...(['processor-kill', 'processor-kill', 'processor-kill'] as const),
  ...(['processor-pause', 'processor-pause', 'processor-replace', 'processor-restart'] as const),
];
const WITH_OTHERS: readonly FaultKind[] = [
  ...ALONE,
  ...(['processor-leave', 'processor-join', 'processor-leave', 'processor-join'] as const),
];

/** What happens to the instances of webhook-delivery; neither broker nor network are touched. */
export function makeDeliverySchedule(options: DeliveryScheduleOptions): ScheduledFault[] {
  const { instances } = options;
  const schedule = makeSchedule({
    ...options,
    namedInstances: instances,
    brokers: 1,
    partitions: PARTITIONS,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    everyMs: EVERY_MS,
    kinds: instances === 1 ? ALONE : WITH_OTHERS,
  });
  return schedule.map(({ atMs, fault }) => ({
    atMs,
    // Delaying the others on the network would take links to the broker, which there are none of here.
    fault: fault.kind === 'processor-join' ? { ...fault, others: [], othersDelayMs: 0, forMs: 0 } : fault,
  }));
}
