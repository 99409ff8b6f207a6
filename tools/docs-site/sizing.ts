import history from '../../docs/results/history.json' with { type: 'json' };

/** What an installation needs for its traffic, from the figures of docs/benchmarks.md. The page docs/sizing.md has the same in words. */

export interface Traffic {
  readonly pingsPerSecond: number;
  /** 0.1 if most events are positions every three minutes. */
  readonly eventsPerPing: number;
  /** The average number of subscriptions that match an event. */
  readonly subscriptionsPerEvent: number;
  /** The fraction of attempts that fail, 0 to 1. */
  readonly failureRate: number;
  /** Bytes of a webhook: some 300 with the usual fields. Both the delivery and the first attempt contain it. */
  readonly bodyBytes: number;
  readonly replicas: number;
}

export interface Sizing {
  readonly eventsPerSecond: number;
  readonly deliveriesPerSecond: number;
  readonly attemptsPerSecond: number;
  readonly processes: {
    readonly telemetryProcessor: number;
    readonly webhookDelivery: number;
    readonly historyProjector: number;
    readonly publicApi: number;
  };
  readonly partitions: number;
  /** Busy cores of all components together. */
  readonly cores: number;
  readonly postgresBytes: number;
  /** Disk of all brokers together. */
  readonly kafkaBytes: number;
}

/** Measured maxima of one process, and the CPU time and bytes of one record. */
export const MEASURED = {
  pingsPerSecond: 413_000,
  attemptsPerSecond: 8_767,
  projectedAttemptsPerSecond: Math.round(history.fill.attemptsPerSecond),
  /** The CPU time of telemetry-processor and its part of the broker. */
  cpuSecondsPerPing: 3.24e-6,
  /** The CPU time of all components, at half of the maximum; and while 30 % of the attempts fail. */
  cpuSecondsPerAttempt: 278e-6,
  cpuSecondsPerFailingAttempt: 357e-6,
  /** Bytes in the history, with indexes and attempts; bodies are those of the benchmark. */
  historyBytesPerDelivery: Math.round(history.size.bytesPerDelivery),
  /** Bytes in the log, uncompressed, with key, trace and record overhead; deliveries and attempts without their body. */
  pingBytes: 160,
  eventBytes: 250,
  deliveryBytes: 300,
  attemptBytes: 450,
} as const;

/** The other half is for bursts, and for catching up after an outage. */
const PLANNED_SHARE = 0.5;
const MOST_ATTEMPTS = 5;
/** 15 days, one for walks in progress, and the one being dropped. */
const HISTORY_DAYS = 17;
const LOG_DAYS = 17;
const SECONDS_PER_DAY = 86_400;

export function sizingOf(traffic: Traffic): Sizing {
  const { pingsPerSecond, eventsPerPing, subscriptionsPerEvent, failureRate, bodyBytes, replicas } = traffic;
  const eventsPerSecond = pingsPerSecond * eventsPerPing;
  const deliveriesPerSecond = eventsPerSecond * subscriptionsPerEvent;
  const attemptsPerSecond = deliveriesPerSecond * attemptsPerDelivery(failureRate);
  const processes = {
    telemetryProcessor: processesFor(pingsPerSecond, MEASURED.pingsPerSecond),
    webhookDelivery: processesFor(attemptsPerSecond, MEASURED.attemptsPerSecond),
    historyProjector: processesFor(attemptsPerSecond, MEASURED.projectedAttemptsPerSecond),
    publicApi: 2,
  };
  const { pingBytes, eventBytes, deliveryBytes, attemptBytes } = MEASURED;
  const logBytesPerSecond =
    pingsPerSecond * pingBytes +
    eventsPerSecond * eventBytes +
    deliveriesPerSecond * (deliveryBytes + 2 * bodyBytes) +
    attemptsPerSecond * attemptBytes;
  return {
    eventsPerSecond,
    deliveriesPerSecond,
    attemptsPerSecond,
    processes,
    partitions: partitionsFor(Math.max(...Object.values(processes))),
    cores: pingsPerSecond * MEASURED.cpuSecondsPerPing + attemptsPerSecond * cpuSecondsPerAttempt(failureRate),
    postgresBytes: deliveriesPerSecond * MEASURED.historyBytesPerDelivery * HISTORY_DAYS * SECONDS_PER_DAY,
    kafkaBytes: logBytesPerSecond * LOG_DAYS * SECONDS_PER_DAY * replicas,
  };
}

/** Each failed attempt is followed by another, up to the fifth. */
export function attemptsPerDelivery(failureRate: number): number {
  return Array.from({ length: MOST_ATTEMPTS }, (_, index) => failureRate ** index).reduce((sum, share) => sum + share);
}

function cpuSecondsPerAttempt(failureRate: number): number {
  const { cpuSecondsPerAttempt: healthy, cpuSecondsPerFailingAttempt: failing } = MEASURED;
  return healthy + (failing - healthy) * Math.min(1, failureRate / 0.3);
}

/** At least two: one may end while the other continues. */
function processesFor(perSecond: number, mostPerSecond: number): number {
  return Math.max(2, Math.ceil(perSecond / (mostPerSecond * PLANNED_SHARE)));
}

/** Leaves room for twice the processes, because the number cannot be changed later; a power of two divides evenly. */
function partitionsFor(processes: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(4, 2 * processes)));
}
