import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroups, topics } from '@waypost/contracts';
import { type AppInstance, disturbProcess } from './app-instance.js';
import { createInjector, type Injector } from './fault-run.js';
import type { KafkaCluster } from './kafka-cluster.js';
import type { NodeProcess } from './kafka-node.js';
import type { Link } from './link.js';

/** What can go wrong, as data: a schedule can be printed, repeated and checked before anything is broken. */
export type Fault =
  /** SIGKILL; started again after `downMs`, which may be beyond the session timeout, so that others take over. */
  | { readonly kind: 'processor-kill'; readonly instance: number; readonly downMs: number }
  /** SIGSTOP, then SIGCONT: past the session timeout it wakes up as a zombie. */
  | { readonly kind: 'processor-pause'; readonly instance: number; readonly forMs: number }
  /** Stopped as a deployment does it; stays away until it joins again. */
  | { readonly kind: 'processor-leave'; readonly instance: number }
  /** Stopped as a deployment does it, and started again. */
  | { readonly kind: 'processor-restart'; readonly instance: number; readonly downMs: number }
  /** With `othersDelayMs` the owners of what it gets hear late, and go on working on what is no longer theirs. */
  | {
      readonly kind: 'processor-join';
      readonly instance: number;
      readonly others: readonly number[];
      readonly othersDelayMs: number;
      readonly forMs: number;
    }
  /** SIGSTOP; a second process takes the same instance id; then SIGCONT: two with one name. */
  | { readonly kind: 'processor-replace'; readonly instance: number; readonly forMs: number }
  | { readonly kind: 'broker-restart'; readonly broker: number; readonly downMs: number }
  | { readonly kind: 'broker-kill'; readonly broker: number; readonly downMs: number }
  /** No file of the broker grows any more, until it has ended because of that; started again after `downMs`. */
  | { readonly kind: 'broker-full'; readonly broker: number; readonly downMs: number }
  /** Nothing passes between the applications and the schema registry; then the connections are reset. */
  | { readonly kind: 'registry-hole'; readonly forMs: number }
  /** The wall clock of its process is set 90 s ahead, or right again. */
  | { readonly kind: 'clock-step'; readonly instance: number }
  /** SIGKILL to whichever broker coordinates the group, or the transactions of a partition's task, at that moment. */
  | {
      readonly kind: 'coordinator-kill';
      readonly of: 'group' | 'transactions';
      readonly partition: number;
      readonly downMs: number;
    }
  | (Disturbed & { readonly kind: 'network-delay'; readonly delayMs: number; readonly forMs: number })
  | (Disturbed & { readonly kind: 'network-throttle'; readonly bytesPerSecond: number; readonly forMs: number })
  /** Every connection is reset once. */
  | (Disturbed & { readonly kind: 'network-cut' })
  /** Nothing passes, and neither side is notified. */
  | (Disturbed & { readonly kind: 'network-hole'; readonly forMs: number });

/** The ways between these instances and these brokers. */
export interface Disturbed {
  readonly instances: readonly number[];
  readonly brokers: readonly number[];
}

export type FaultKind = Fault['kind'];

/** Faults of one target come one after another; those of different targets may overlap. */
export function targetsOf(fault: Fault): readonly string[] {
  const networks = (instances: readonly number[]): string[] => instances.map((one) => `network ${String(one)}`);
  if ('instances' in fault) return networks(fault.instances);
  if (fault.kind === 'registry-hole') return ['registry'];
  // One broker at a time: two of three would be more than min.insync.replicas can bear.
  if (!('instance' in fault)) return ['brokers'];
  return [`processor ${String(fault.instance)}`, ...('others' in fault ? networks(fault.others) : [])];
}

export function durationOf(fault: Fault): number {
  if ('forMs' in fault) return fault.forMs;
  return 'downMs' in fault ? fault.downMs : 0;
}

export interface World {
  readonly cluster: KafkaCluster;
  readonly processors: readonly AppInstance[];
  readonly registry: { readonly link: Link };
  /** Instances lose their way to the brokers, or a good part of it; the returned function says that they have it back. */
  /** Before a broker falls: resolves when nothing is being written to it from outside; the returned function lets it go on. */
  readonly hold?: () => Promise<() => void>;
  readonly cutOff?: (instances: readonly number[]) => () => void;
}

const WHOLE_TIMEOUT_MS = 60_000;
const COORDINATOR_TRIES = 20;
/** Until a broker whose disk is full has written something. */
const FULL_WITHIN_MS = 10_000;

export function createFaultInjector(world: World): Injector<Fault> {
  return createInjector({ targetsOf, apply: (fault) => apply(world, fault) });
}

/** Resolves when the fault is over; false: there was nothing to break. */
async function apply(world: World, fault: Fault): Promise<boolean> {
  const { cluster } = world;
  if ('instance' in fault) return applyToProcessor(world, fault);
  if ('instances' in fault) {
    const restored = world.cutOff?.(fault.instances);
    await disturb(linksOf(cluster, fault.instances, fault.brokers), fault);
    restored?.();
    return true;
  }
  if (fault.kind === 'registry-hole') {
    const { link } = world.registry;
    link.shape({ hole: true });
    await sleep(fault.forMs);
    link.cut();
    link.heal();
    return true;
  }
  // The next one may only fall when the one before has caught up: see min.insync.replicas.
  await cluster.untilWhole(WHOLE_TIMEOUT_MS);
  const id = fault.kind === 'coordinator-kill' ? await coordinatorOf(cluster, fault) : fault.broker;
  const release = await world.hold?.();
  const restored = world.cutOff?.(world.processors.map(({ instance }) => instance));
  try {
    return await applyToBroker(cluster, id, fault);
  } finally {
    // Also when the brokers need longer: a run that holds its writers for ever never ends.
    restored?.();
    release?.();
  }
}

async function applyToBroker(cluster: KafkaCluster, id: number, { kind, downMs }: BrokerFault): Promise<boolean> {
  const node = cluster.node(id);
  const isMade = await bringDown(node, kind);
  await sleep(downMs);
  node.start();
  await cluster.untilWhole(WHOLE_TIMEOUT_MS);
  return isMade;
}

/** @returns false: nothing was written that could have failed */
export async function bringDown(node: NodeProcess, kind: `${string}-${'kill' | 'restart' | 'full'}`): Promise<boolean> {
  if (kind.endsWith('-full')) return node.fillDisk(FULL_WITHIN_MS);
  await (kind.endsWith('-restart') ? node.stop() : node.kill());
  return true;
}

type ProcessorFault = Extract<Fault, { readonly instance: number }>;
type Disturbance = DistributiveOmit<Extract<Fault, Disturbed>, keyof Disturbed>;
type DistributiveOmit<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;
type CoordinatorFault = Extract<Fault, { readonly kind: 'coordinator-kill' }>;
type BrokerFault = CoordinatorFault | Extract<Fault, { readonly broker: number }>;

async function applyToProcessor({ processors, cluster }: World, fault: ProcessorFault): Promise<boolean> {
  const processor = processors[fault.instance];
  if (processor === undefined || processor.up === (fault.kind === 'processor-join')) return false;
  switch (fault.kind) {
    case 'processor-kill':
    case 'processor-restart':
      return disturbProcess(processor, fault.kind, fault.downMs);
    case 'processor-pause':
    case 'processor-replace':
      return disturbProcess(processor, fault.kind, fault.forMs);
    case 'processor-leave':
      await processor.stop();
      return true;
    case 'clock-step':
      processor.stepClock();
      return true;
    case 'processor-join':
      processor.start();
      await disturb(linksOf(cluster, fault.others), {
        kind: 'network-delay',
        delayMs: fault.othersDelayMs,
        forMs: fault.forMs,
      });
      return true;
  }
}

async function coordinatorOf(cluster: KafkaCluster, { of, partition }: CoordinatorFault): Promise<number> {
  const groupId = consumerGroups.telemetryProcessor.id;
  const { name: topic } = topics.telemetryPings;
  for (let tried = 1; ; tried += 1) {
    try {
      return await cluster.coordinatorOf(of, { groupId, topic, partition });
    } catch (error) {
      if (tried === COORDINATOR_TRIES) throw error;
      await sleep(250);
    }
  }
}

function linksOf(
  cluster: KafkaCluster,
  instances: readonly number[],
  brokers: readonly number[] = cluster.brokers.map((_address, index) => index + 1),
): Link[] {
  return instances.flatMap((instance) => brokers.map((broker) => cluster.link(instance, broker)));
}

async function disturb(links: readonly Link[], fault: Disturbance): Promise<void> {
  for (const link of links) {
    if (fault.kind === 'network-cut') link.cut();
    else if (fault.kind === 'network-hole') link.shape({ hole: true });
    else if (fault.kind === 'network-delay') link.shape({ delayMs: fault.delayMs });
    else link.shape({ bytesPerSecond: fault.bytesPerSecond });
  }
  if (fault.kind === 'network-cut') return;
  await sleep(fault.forMs);
  for (const link of links) link.heal();
}
