import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';

/** The decisions of. */
const DECISIONS = ['accepted', 'late', 'duplicate', 'expired', 'rejected'];

/** Counts what the rules decide. */
@Injectable()
export class PingMetrics {
  /** One of `DECISIONS`. */
  readonly pingDecided: (decision: string) => void;
  readonly eventEmitted: (eventType: string) => void;

  constructor(registry: Registry) {
    // Creates all series on startup: one that begins with its first pings never shows them as an increase.
    this.pingDecided = countBy(registry, 'waypost_pings_total', 'Pings by decision.', 'decision', DECISIONS);
    this.eventEmitted = countBy(registry, 'waypost_events_total', 'Events made, by type.', 'event_type');
  }
}

/** Counts in a plain map that the metric reads at a scrape: a labeled increment costs as much as a rule. */
function countBy(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  known: readonly string[] = [],
): (value: string) => void {
  const counts = new Map(known.map((value) => [value, 0]));
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
  return (value) => counts.set(value, (counts.get(value) ?? 0) + 1);
}
