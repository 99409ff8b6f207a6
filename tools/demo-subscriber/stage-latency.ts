/** What identifies one event along its way: pings have no event type yet. */
export interface TracedEvent {
  readonly deviceId: string;
  readonly eventType: string;
  /** Epoch ms. */
  readonly eventTimeMs: number;
}

export type TracedPing = Pick<TracedEvent, 'deviceId' | 'eventTimeMs'>;

/**
 * Latency from the append of a ping to the receipt of its webhook, by stage. Appends are the broker's own times, so a
 * ping that a vehicle held back counts from its arrival in Kafka.
 */
export interface StageLatency {
  pingAppended(ping: TracedPing, atMs: number): void;
  eventAppended(event: TracedEvent, atMs: number): void;
  deliveryAppended(event: TracedEvent, atMs: number): void;
  received(event: TracedEvent, atMs: number): void;
  /** Percentiles over the latest receipts; null before the first complete one. */
  summary(): LatencySummary | null;
}

export interface LatencySummary {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Median ms per stage, in the order of the flow. */
  readonly stagesMs: Readonly<Record<'processor' | 'fan-out' | 'sender', number>>;
}

interface Sample {
  readonly totalMs: number;
  readonly processorMs: number;
  readonly fanOutMs: number;
  readonly senderMs: number;
}

const REMEMBERED_RECORDS = 20_000;
const SAMPLES = 200;
/** These types have the event time of the ping that caused them, which is how a webhook finds its ping. */
const TRACED_TYPES = new Set(['position', 'position_sleep', 'ignition_on', 'ignition_off']);

export function createStageLatency(): StageLatency {
  const pings = new BoundedMap<number>(REMEMBERED_RECORDS);
  const events = new BoundedMap<number>(REMEMBERED_RECORDS);
  const deliveries = new BoundedMap<number>(REMEMBERED_RECORDS);
  /** Receipts whose records have not all been read yet: the log is read just after the POST. */
  const open = new BoundedMap<{ readonly event: TracedEvent; readonly atMs: number }>(REMEMBERED_RECORDS);
  let samples: Sample[] = [];

  function collect(): void {
    for (const [key, { event, atMs }] of open.entries()) {
      const pingAt = pings.get(pingKey(event));
      const eventAt = events.get(key);
      const deliveryAt = deliveries.get(key);
      if (pingAt === undefined || eventAt === undefined || deliveryAt === undefined) continue;
      open.delete(key);
      samples.push({
        totalMs: atMs - pingAt,
        processorMs: eventAt - pingAt,
        fanOutMs: deliveryAt - eventAt,
        senderMs: atMs - deliveryAt,
      });
    }
    samples = samples.slice(-SAMPLES);
  }

  return {
    pingAppended: (ping, atMs) => pings.addFirst(pingKey(ping), atMs),
    eventAppended: (event, atMs) => events.addFirst(eventKey(event), atMs),
    deliveryAppended: (event, atMs) => deliveries.addFirst(eventKey(event), atMs),
    received: (event, atMs) => {
      if (TRACED_TYPES.has(event.eventType)) open.addFirst(eventKey(event), { event, atMs });
    },
    summary() {
      collect();
      if (samples.length === 0) return null;
      const totals = samples.map(({ totalMs }) => totalMs);
      return {
        p50Ms: percentile(totals, 0.5),
        p99Ms: percentile(totals, 0.99),
        stagesMs: {
          processor: percentile(
            samples.map(({ processorMs }) => processorMs),
            0.5,
          ),
          'fan-out': percentile(
            samples.map(({ fanOutMs }) => fanOutMs),
            0.5,
          ),
          sender: percentile(
            samples.map(({ senderMs }) => senderMs),
            0.5,
          ),
        },
      };
    },
  };
}

/** Forgets its oldest entries beyond a limit. */
class BoundedMap<T> {
  private readonly values = new Map<string, T>();

  constructor(private readonly limit: number) {}

  get(key: string): T | undefined {
    return this.values.get(key);
  }

  /** Keeps the first value of a key: a repeated record does not count as a later one. */
  addFirst(key: string, value: T): void {
    if (this.values.has(key)) return;
    this.values.set(key, value);
    if (this.values.size <= this.limit) return;
    const [oldest] = this.values.keys();
    if (oldest !== undefined) this.values.delete(oldest);
  }

  delete(key: string): void {
    this.values.delete(key);
  }

  entries(): [string, T][] {
    return [...this.values];
  }
}

function pingKey({ deviceId, eventTimeMs }: TracedPing): string {
  return `${deviceId} ${String(eventTimeMs)}`;
}

function eventKey(event: TracedEvent): string {
  return `${pingKey(event)} ${event.eventType}`;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
