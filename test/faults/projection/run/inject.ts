import { setTimeout as sleep } from 'node:timers/promises';
import { targetOf, type ProjectionFault, type ProjectionFaultKind } from '../schedule/projection-fault.js';
import type { Database } from '../stage/database.js';
import type { Projector } from '../stage/projectors.js';
import type { Rival } from '../stage/rival.js';

export interface World {
  readonly database: Database;
  readonly projectors: readonly Projector[];
  readonly startRival: () => Promise<Rival>;
}

export interface Injector {
  /** Injects it once the earlier faults of its target are over; does not wait for it. */
  inject(fault: ProjectionFault): void;
  /** Resolves when all of them are over and mended. */
  settled(): Promise<void>;
  /** Faults that have really been made. */
  readonly counts: Readonly<Partial<Record<ProjectionFaultKind, number>>>;
  /** Batches that rivals have written. */
  readonly rivalBatches: () => number;
}

/** For how long to look for a session, or for one in the middle of a batch. */
const FIND_WITHIN_MS = 3_000;

export function createInjector(world: World, onSkipped: (fault: ProjectionFault, error: unknown) => void): Injector {
  const counts: Partial<Record<ProjectionFaultKind, number>> = {};
  const chains = new Map<string, Promise<void>>();
  let rivalBatches = 0;

  async function make(fault: ProjectionFault): Promise<void> {
    try {
      const isMade =
        fault.kind === 'rival' ? await race(world, fault.forMs, (n) => (rivalBatches += n)) : await apply(world, fault);
      if (isMade) counts[fault.kind] = (counts[fault.kind] ?? 0) + 1;
    } catch (error) {
      onSkipped(fault, error);
    }
  }
  return {
    counts,
    rivalBatches: () => rivalBatches,
    inject(fault) {
      const target = targetOf(fault);
      chains.set(
        target,
        (chains.get(target) ?? Promise.resolve()).then(() => make(fault)),
      );
    },
    async settled() {
      await Promise.all(chains.values());
    },
  };
}

async function race(world: World, forMs: number, count: (batches: number) => void): Promise<boolean> {
  const rival = await world.startRival();
  try {
    await sleep(forMs);
  } finally {
    await rival.stop();
  }
  count(rival.appliedBatches());
  return true;
}

type Applied = Exclude<ProjectionFault, { readonly kind: 'rival' }>;

/** Resolves when the fault is over; false: there was nothing to break. */
async function apply({ database, projectors }: World, fault: Applied): Promise<boolean> {
  switch (fault.kind) {
    case 'projector-kill':
    case 'projector-pause':
    case 'projector-replace':
    case 'projector-restart':
      return applyToProcess(projectors[fault.projector], fault);
    case 'network-cut':
    case 'network-crawl':
    case 'network-hole':
      return disturb(projectors[fault.projector], fault);
    case 'sessions-end':
      return within(FIND_WITHIN_MS, async () => (await database.terminate('all')) > 0);
    case 'batch-end':
      return within(FIND_WITHIN_MS, async () => (await database.terminate('those that have written')) > 0);
    case 'database-restart':
      await database.stop();
      await sleep(fault.downMs);
      await database.start();
      return true;
    case 'database-kill':
      await database.kill();
      return true;
    case 'backend-kill':
      return within(FIND_WITHIN_MS, () => database.killBackend());
  }
}

/** Tries until there is somebody to hit; a batch is a matter of milliseconds, so without a pause. */
async function within(timeMs: number, hit: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + timeMs;
  while (performance.now() < deadline) if (await hit()) return true;
  return false;
}

type ProcessFault = Extract<Applied, { readonly kind: `projector-${string}` }>;

async function applyToProcess(projector: Projector | undefined, fault: ProcessFault): Promise<boolean> {
  if (projector?.instance.up !== true) return false;
  const { instance } = projector;
  switch (fault.kind) {
    case 'projector-kill':
      await instance.kill();
      await sleep(fault.downMs);
      instance.start();
      return true;
    case 'projector-pause':
      instance.pause();
      await sleep(fault.forMs);
      instance.resume();
      return true;
    case 'projector-replace':
      await instance.replacePaused(fault.forMs);
      return true;
    case 'projector-restart':
      await instance.stop();
      await sleep(fault.downMs);
      instance.start();
      return true;
  }
}

type NetworkFault = Extract<Applied, { readonly kind: `network-${string}` }>;

async function disturb(projector: Projector | undefined, fault: NetworkFault): Promise<boolean> {
  if (projector === undefined) return false;
  const { link } = projector;
  if (fault.kind === 'network-hole') {
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
