import { setTimeout as sleep } from 'node:timers/promises';
import { consumerGroups } from '@waypost/contracts';
import type { KafkaCluster } from '../cluster/kafka-cluster.js';
import type { Link } from '../network/link.js';
import type { ProcessorInstance } from '../processors/processor-instance.js';
import { targetsOf, type Disturbed, type Fault, type FaultKind } from '../schedule/fault.js';

export interface World {
  readonly cluster: KafkaCluster;
  readonly processors: readonly ProcessorInstance[];
}

export interface Injector {
  /** Injects it once the earlier faults of its targets are over; does not wait for it. */
  inject(fault: Fault): void;
  /** Resolves when all of them are over and mended. */
  settled(): Promise<void>;
  /** Faults that have really been made. */
  readonly counts: Readonly<Partial<Record<FaultKind, number>>>;
}

const WHOLE_TIMEOUT_MS = 60_000;
const COORDINATOR_TRIES = 20;

export function createInjector(world: World, onSkipped: (fault: Fault, error: unknown) => void): Injector {
  const counts: Partial<Record<FaultKind, number>> = {};
  const chains = new Map<string, Promise<void>>();

  async function make(fault: Fault): Promise<void> {
    try {
      if (await apply(world, fault)) counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
    } catch (error) {
      onSkipped(fault, error);
    }
  }
  return {
    counts,
    inject(fault) {
      const targets = targetsOf(fault);
      const earlier = Promise.all(targets.map((target) => chains.get(target) ?? Promise.resolve()));
      const done = earlier.then(() => make(fault));
      for (const target of targets) chains.set(target, done);
    },
    async settled() {
      await Promise.all(chains.values());
    },
  };
}

/** Resolves when the fault is over; false: there was nothing to break. */
async function apply(world: World, fault: Fault): Promise<boolean> {
  switch (fault.kind) {
    case 'processor-kill':
    case 'processor-pause':
    case 'processor-leave':
    case 'processor-restart':
    case 'processor-join':
    case 'processor-replace':
      return applyToProcessor(world, fault);
    case 'broker-restart':
    case 'broker-kill':
      await takeDown(world.cluster, fault.broker, fault.kind === 'broker-kill', fault.downMs);
      return true;
    case 'coordinator-kill':
      await world.cluster.untilWhole(WHOLE_TIMEOUT_MS);
      await takeDown(world.cluster, await coordinatorOf(world.cluster, fault), true, fault.downMs);
      return true;
    case 'network-delay':
    case 'network-throttle':
    case 'network-cut':
    case 'network-hole':
      await disturb(linksOf(world.cluster, fault.instances, fault.brokers), fault);
      return true;
  }
}

type ProcessorFault = Extract<Fault, { readonly instance: number }>;
type Disturbance = DistributiveOmit<Extract<Fault, Disturbed>, keyof Disturbed>;
type DistributiveOmit<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;
type CoordinatorFault = Extract<Fault, { readonly kind: 'coordinator-kill' }>;

async function applyToProcessor({ processors, cluster }: World, fault: ProcessorFault): Promise<boolean> {
  const processor = processors[fault.instance];
  if (processor === undefined || processor.up === (fault.kind === 'processor-join')) return false;
  switch (fault.kind) {
    case 'processor-kill':
      await processor.kill();
      await sleep(fault.downMs);
      processor.start();
      return true;
    case 'processor-pause':
      processor.pause();
      await sleep(fault.forMs);
      processor.resume();
      return true;
    case 'processor-leave':
      await processor.stop();
      return true;
    case 'processor-restart':
      await processor.stop();
      await sleep(fault.downMs);
      processor.start();
      return true;
    case 'processor-join':
      processor.start();
      await disturb(linksOf(cluster, fault.others), {
        kind: 'network-delay',
        delayMs: fault.othersDelayMs,
        forMs: fault.forMs,
      });
      return true;
    case 'processor-replace':
      await processor.replacePaused(fault.forMs);
      return true;
  }
}

/** The next one may only fall when this one has caught up: see min.insync.replicas. */
async function takeDown(cluster: KafkaCluster, id: number, violently: boolean, downMs: number): Promise<void> {
  await cluster.untilWhole(WHOLE_TIMEOUT_MS);
  const node = cluster.node(id);
  await (violently ? node.kill() : node.stop());
  await sleep(downMs);
  node.start();
  await cluster.untilWhole(WHOLE_TIMEOUT_MS);
}

async function coordinatorOf(cluster: KafkaCluster, { of, partition }: CoordinatorFault): Promise<number> {
  const group = consumerGroups.telemetryProcessor.id;
  for (let tried = 1; ; tried += 1) {
    try {
      return await cluster.coordinatorOf(of, of === 'group' ? group : `${group}.${String(partition)}`);
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
