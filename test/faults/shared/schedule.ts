import { between, chance, createRandom, type Random, wholeBetween } from '../../../tools/simulator/random.js';
import { durationOf, type Fault, type FaultKind, targetsOf } from './fault.js';
import { type Scheduled, shuffled } from './fault-run.js';

export interface ScheduleOptions {
  readonly seed: number;
  readonly durationMs: number;
  /** Highest number of instances; the first `running` of them are up at the start. */
  readonly instances: number;
  readonly running: number;
  /** Instances from this one on have no name of their own in the group, so nothing can take their name. */
  readonly namedInstances: number;
  readonly brokers: number;
  readonly partitions: number;
  readonly sessionTimeoutMs: number;
  /** Between two faults, on average. */
  readonly everyMs: number;
  /** What may happen, each as often as it stands here; default: everything that this many brokers can bear. */
  readonly kinds?: readonly FaultKind[];
}

interface Model {
  readonly random: Random;
  readonly options: ScheduleOptions;
  readonly up: Set<number>;
  /** Until when a target is taken by an earlier fault. */
  readonly busyUntil: Map<string, number>;
}

const processorKinds = ['kill', 'kill', 'pause', 'pause', 'leave', 'leave', 'join', 'join', 'replace'] as const;
const networkKinds = ['delay', 'throttle', 'cut', 'cut', 'hole', 'hole'] as const;
/** A processor or a broker needs about this long to be back at work. */
const RECOVERY_MS = 2_000;
/** The broker has ended the transaction of a producer after that long a silence. */
const BEYOND_TRANSACTION_MS = 17_000;
const TRIES = 20;

/** The same options give the same schedule. Every kind comes once before any comes again. */
export function makeSchedule(options: ScheduleOptions): Scheduled<Fault>[] {
  const random = createRandom(options.seed * 7_919 + options.brokers);
  const up = new Set(Array.from({ length: options.running }, (_, instance) => instance));
  const model: Model = { random, options, up, busyUntil: new Map() };
  const schedule: Scheduled<Fault>[] = [];
  let deck: FaultKind[] = [];
  let atMs = 1_000;
  while (atMs < options.durationMs) {
    if (deck.length === 0) deck = shuffled(options.kinds ?? kindsFor(options.brokers), random);
    const place = deck.findIndex((kind) => plan(model, kind, atMs, schedule));
    if (place >= 0) deck.splice(place, 1);
    atMs += between(random, 0.3, 1.7) * options.everyMs;
  }
  return schedule;
}

function kindsFor(brokers: number): FaultKind[] {
  return [
    ...processorKinds.map((kind) => `processor-${kind}` as const),
    ...networkKinds.map((kind) => `network-${kind}` as const),
    ...(['broker-restart', 'broker-kill', 'broker-full'] as const),
    'registry-hole',
    ...(['clock-step', 'clock-step'] as const),
    ...(brokers > 1 ? (['coordinator-kill', 'coordinator-kill'] as const) : []),
  ];
}

/** Whether a fault of this kind found a free target. */
function plan(model: Model, kind: FaultKind, atMs: number, schedule: Scheduled<Fault>[]): boolean {
  const { random, up, busyUntil } = model;
  for (let tried = 0; tried < TRIES; tried += 1) {
    const fault = faultOf(model, kind);
    if (fault === null) return false;
    const targets = targetsOf(fault);
    if (targets.some((target) => (busyUntil.get(target) ?? 0) > atMs)) continue;
    for (const target of targets)
      busyUntil.set(target, atMs + durationOf(fault) + RECOVERY_MS * between(random, 0, 1.5));
    if (fault.kind === 'processor-leave') up.delete(fault.instance);
    if (fault.kind === 'processor-join') up.add(fault.instance);
    schedule.push({ atMs: Math.round(atMs), fault });
    return true;
  }
  return false;
}

/** null: it makes no sense at the moment, as a leave of the last instance. */
function faultOf(model: Model, kind: FaultKind): Fault | null {
  const { random, options, up } = model;
  const { instances, brokers, partitions, sessionTimeoutMs } = options;
  const broker = wholeBetween(random, 1, brokers);
  const instance = oneOf([...up], random);
  const all = Array.from({ length: instances }, (_, index) => index);
  const everyBroker = Array.from({ length: brokers }, (_, index) => index + 1);
  const links = {
    instances: chance(random, 0.4) ? all : [instance],
    brokers: chance(random, 0.6) ? everyBroker : [broker],
  };
  const beyondSession = Math.round(sessionTimeoutMs + between(random, 500, 4_000));
  const within = (low: number, high: number): number => Math.round(between(random, low, high));
  switch (kind) {
    case 'processor-kill':
      return { kind, instance, downMs: chance(random, 0.6) ? within(0, 500) : beyondSession };
    case 'processor-pause':
      return {
        kind,
        instance,
        forMs: oneOf([beyondSession, beyondSession, BEYOND_TRANSACTION_MS, within(500, 3_000)], random),
      };
    case 'processor-replace':
      return instance < options.namedInstances ? { kind, instance, forMs: within(2_000, 6_000) } : null;
    case 'registry-hole':
      return { kind, forMs: within(2_000, 9_000) };
    case 'clock-step':
      return { kind, instance };
    case 'processor-leave':
      return up.size > 1 ? { kind, instance } : null;
    case 'processor-restart':
      return { kind, instance, downMs: within(0, 1_000) };
    case 'processor-join': {
      const away = all.filter((one) => !up.has(one));
      if (away.length === 0) return null;
      const joining = oneOf(away, random);
      if (chance(random, 0.4)) return { kind, instance: joining, others: [], othersDelayMs: 0, forMs: 0 };
      const others = all.filter((one) => one !== joining);
      return { kind, instance: joining, others, othersDelayMs: within(100, 400), forMs: within(4_000, 7_000) };
    }
    case 'broker-restart':
    case 'broker-kill':
    case 'broker-full':
      return { kind, broker, downMs: within(0, brokers > 1 ? 6_000 : 2_000) };
    case 'coordinator-kill': {
      const partition = wholeBetween(random, 0, partitions - 1);
      return { kind, of: chance(random, 0.5) ? 'group' : 'transactions', partition, downMs: within(500, 6_000) };
    }
    case 'network-delay':
      return { kind, ...links, delayMs: within(20, 400), forMs: within(2_000, 8_000) };
    case 'network-throttle':
      return { kind, ...links, bytesPerSecond: within(5_000, 60_000), forMs: within(2_000, 8_000) };
    case 'network-cut':
      return { kind, ...links };
    case 'network-hole':
      return { kind, ...links, forMs: chance(random, 0.5) ? within(500, 4_000) : beyondSession };
  }
}

function oneOf(items: readonly number[], random: Random): number {
  return items[Math.floor(random() * items.length)] ?? 0;
}
