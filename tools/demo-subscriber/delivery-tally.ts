import type { LatencySummary } from './stage-latency.js';

/** Counts what arrives, for the line that is printed every second. */
export interface DeliveryTally {
  pingSeen(): void;
  /** Whether this is the first delivery of its event. */
  verified(event: ReceivedEvent): boolean;
  bad(): void;
  /** Pings and events since the previous line; verified, bad and repeated deliveries since the start. */
  line(latency: LatencySummary | null): string;
}

export interface ReceivedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly eventTime: string;
  readonly eventData: { readonly deviceId: string };
}

const REMEMBERED_IDS = 100_000;

export function createDeliveryTally(): DeliveryTally {
  const seenIds = new Set<string>();
  const newPerType = new Map<string, number>();
  let pings = 0;
  let verified = 0;
  let bad = 0;
  let repeats = 0;

  function isRepeat(eventId: string): boolean {
    if (seenIds.has(eventId)) return true;
    seenIds.add(eventId);
    const [oldest] = seenIds;
    if (seenIds.size > REMEMBERED_IDS && oldest !== undefined) seenIds.delete(oldest);
    return false;
  }

  return {
    pingSeen() {
      pings += 1;
    },
    verified({ eventId, eventType }) {
      verified += 1;
      if (isRepeat(eventId)) {
        repeats += 1;
        return false;
      }
      newPerType.set(eventType, (newPerType.get(eventType) ?? 0) + 1);
      return true;
    },
    bad() {
      bad += 1;
    },
    line(latency) {
      const types = [...newPerType].map(([type, count]) => `${type} ${String(count)}`).join(', ');
      const parts = [
        `pings ${String(pings)}`,
        `webhooks: ${types === '' ? 'none this second' : types}`,
        `verified ${String(verified)}, bad ${String(bad)}, repeats ${String(repeats)}`,
        ...(latency === null ? [] : [latencyText(latency)]),
      ];
      newPerType.clear();
      pings = 0;
      return parts.join(' | ');
    },
  };
}

function latencyText({ p50Ms, p99Ms, stagesMs }: LatencySummary): string {
  const stages = Object.entries(stagesMs).map(([stage, ms]) => `${stage} ${String(ms)}`);
  return `ping in Kafka to webhook: p50 ${String(p50Ms)} ms, p99 ${String(p99Ms)} ms (${stages.join(', ')})`;
}
