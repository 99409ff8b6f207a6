import { setTimeout as sleep } from 'node:timers/promises';
import { type AppInstance, disturbProcess } from '../shared/app-instance.js';
import { bringDown } from '../shared/fault.js';
import { createInjector, type Injector } from '../shared/fault-run.js';
import type { KafkaCluster } from '../shared/kafka-cluster.js';
import type { Link } from '../shared/link.js';
import type { Database } from './database.js';
import { type ProjectionFault, targetsOf } from './faults.js';
import type { Rival } from './rival.js';
import type { Projector } from './stage.js';

export interface World {
  readonly database: Database;
  readonly cluster: KafkaCluster;
  readonly projectors: readonly Projector[];
  readonly startRival: () => Promise<Rival>;
}

/** For how long to look for a session, or for one in the middle of a batch. */
const FIND_WITHIN_MS = 3_000;
const BROKER_BACK_WITHIN_MS = 60_000;
const RIVAL_WINS_WITHIN_MS = 15_000;
const RIVAL_LOOK_MS = 20;

export interface ProjectionInjector extends Injector<ProjectionFault> {
  /** Batches that rivals have written. */
  readonly rivalBatches: () => number;
}

export function createProjectionInjector(world: World): ProjectionInjector {
  let rivalBatches = 0;

  async function race(forMs: number): Promise<boolean> {
    const rival = await world.startRival();
    try {
      await sleep(forMs);
      // On a busy machine it may have lost every race so far, and then there was no rival.
      await within(RIVAL_WINS_WITHIN_MS, async () => {
        await sleep(RIVAL_LOOK_MS);
        return rival.appliedBatches() > 0;
      });
    } finally {
      await rival.stop();
    }
    rivalBatches += rival.appliedBatches();
    return true;
  }
  const injector = createInjector<ProjectionFault>({
    targetsOf,
    apply: (fault) => (fault.kind === 'rival' ? race(fault.forMs) : apply(world, fault)),
  });
  return { ...injector, rivalBatches: () => rivalBatches };
}

type Applied = Exclude<ProjectionFault, { readonly kind: 'rival' }>;

/** Resolves when the fault is over; false: there was nothing to break. */
async function apply({ database, cluster, projectors }: World, fault: Applied): Promise<boolean> {
  switch (fault.kind) {
    case 'projector-kill':
    case 'projector-restart':
      return disturbProcess(instanceOf(projectors, fault), fault.kind, fault.downMs);
    case 'projector-pause':
    case 'projector-replace':
      return disturbProcess(instanceOf(projectors, fault), fault.kind, fault.forMs);
    case 'network-cut':
    case 'network-crawl':
    case 'network-hole':
      return disturb(projectors[fault.projector]?.link, fault);
    case 'broker-cut':
    case 'broker-hole':
      return disturb(cluster.link(fault.projector, 1), fault);
    case 'broker-kill':
    case 'broker-full':
    case 'broker-restart': {
      const node = cluster.node(1);
      const isMade = await bringDown(node, fault.kind);
      await sleep(fault.downMs);
      node.start();
      await cluster.untilWhole(BROKER_BACK_WITHIN_MS);
      return isMade;
    }
    case 'sessions-end':
      return within(FIND_WITHIN_MS, async () => (await database.terminate('all')) > 0);
    case 'batch-end':
      return within(FIND_WITHIN_MS, async () => (await database.terminate('those that have written')) > 0);
    case 'database-restart':
      await database.stop();
      await sleep(fault.downMs);
      await database.start();
      return true;
    case 'database-full':
      await database.fillDisk(fault.forMs);
      return true;
    case 'database-kill':
      await database.kill();
      return true;
    case 'backend-kill':
      return within(FIND_WITHIN_MS, () => database.killBackend());
  }
}

/** Tries until it succeeds; a batch is a matter of milliseconds, so without a pause. */
async function within(timeMs: number, hit: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + timeMs;
  while (performance.now() < deadline) if (await hit()) return true;
  return false;
}

function instanceOf(projectors: readonly Projector[], { projector }: { readonly projector: number }): AppInstance {
  const found = projectors[projector];
  if (found === undefined) throw new Error(`There is no projector ${String(projector)}.`);
  return found.instance;
}

type LinkFault = Extract<Applied, { readonly kind: `network-${string}` | 'broker-cut' | 'broker-hole' }>;

async function disturb(link: Link | undefined, fault: LinkFault): Promise<boolean> {
  if (link === undefined) return false;
  if (fault.kind === 'network-hole' || fault.kind === 'broker-hole') {
    link.shape({ hole: true });
    await sleep(fault.forMs);
  } else if (fault.kind === 'network-crawl') {
    link.shape({ bytesPerSecond: fault.bytesPerSecond });
    await sleep(fault.forMs);
    link.cut();
  } else link.cut();
  link.heal();
  return true;
}
