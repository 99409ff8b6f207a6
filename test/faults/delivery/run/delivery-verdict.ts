import type { DeliveryFaultRunResult } from './delivery-fault-run.js';

/** The last line of the suite. */
export interface DeliveryVerdict extends DeliveryFaultRunResult {
  readonly deliveryIntegrity: 'intact' | 'broken';
}

export function verdictOf(result: DeliveryFaultRunResult): DeliveryVerdict {
  return { deliveryIntegrity: result.problems.length === 0 ? 'intact' : 'broken', ...result };
}

export function describeVerdict(verdict: DeliveryVerdict): string[] {
  const { faults, injected, seed, events, expected, posts, attempts, drainedAfterMs, problems } = verdict;
  const { repeats, inFlight, inFlightAtWorst, woken, acceptedTwice, retryLatenessMs, errors } = verdict;
  const kinds = Object.entries(faults).sort(([a], [b]) => (a < b ? -1 : 1));
  const width = Math.max(0, ...kinds.map(([kind]) => kind.length));
  const { count, p50, p99, most } = retryLatenessMs;
  const failed = Object.entries(errors).map(([code, number]) => `${code} ${String(number)}`);
  return [
    ...kinds.map(([kind, number]) => `    ${kind.padEnd(width)}  ${String(number)}`),
    `  ${String(injected)} faults, seed ${String(seed)}; ${String(events)} events, ${String(expected)} deliveries, ` +
      `${String(attempts)} attempts in the log, ${String(posts)} POSTs received; ` +
      (drainedAfterMs === null ? 'never finished' : `finished ${String(drainedAfterMs)} ms after the last event`),
    `  in flight when their process was killed or stopped: ${String(inFlight)} (${String(inFlightAtWorst)} at worst), written on waking: ${String(woken)}; ` +
      `repeats: ${String(repeats)}, deliveries answered 200 more than once: ${String(acceptedTwice)}`,
    `  attempts without a status: ${failed.join(', ')}; lateness of ${String(count)} retries: ` +
      `p50 ${String(p50)}, p99 ${String(p99)}, at most ${String(most)} ms`,
    problems.length === 0
      ? '  intact: nothing missing, no gap, nothing twice in the log, no repeat without a cause, nobody stuck'
      : '  BROKEN:',
    ...problems.map((problem) => `    ${problem}`),
  ];
}
