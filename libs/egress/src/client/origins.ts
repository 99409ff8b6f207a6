import type { AbortGroupMember } from './abort-group.js';
import { Origin, type OriginOptions, type OriginTarget } from './origin.js';

export interface OriginsOptions extends OriginOptions {
  readonly maxIdleOrigins: number;
}

/**
 * One set of connections per origin. Origins in use are always kept; of the idle ones only the most recently used,
 * so that any number of origins over time needs bounded memory.
 */
export interface Origins extends AbortGroupMember {
  of(target: OriginTarget): Origin;
  /** Ends all connections and fails what is still in flight. */
  close(error: Error): Promise<void>;
  /** Known origins, in use or idle. */
  readonly size: number;
}

const SWEEP_EVERY_MS = 1_000;

export function createOrigins(options: OriginsOptions): Origins {
  const known = new Map<string, Origin>();
  /** Least recently used first: sets keep the order of insertion. */
  const idle = new Set<Origin>();
  // Connections are not used when they are too old; this closes those that nobody wants to use.
  const sweeper = setInterval(() => {
    for (const origin of known.values()) origin.sweep();
  }, SWEEP_EVERY_MS).unref();

  function onIdle(origin: Origin): void {
    idle.add(origin);
    for (const surplus of idle) {
      if (idle.size <= options.maxIdleOrigins) return;
      idle.delete(surplus);
      known.delete(surplus.target.origin);
      void surplus.close(new Error('the origin is not kept'));
    }
  }

  const owner = {
    onIdle,
    onBusy: (origin: Origin): void => {
      idle.delete(origin);
    },
  };

  return {
    of(target) {
      const existing = known.get(target.origin);
      if (existing !== undefined) return existing;
      const origin = new Origin(target, owner, options);
      known.set(target.origin, origin);
      return origin;
    },
    abort(group) {
      for (const origin of known.values()) origin.abort(group);
    },
    async close(error) {
      clearInterval(sweeper);
      const origins = [...known.values()];
      known.clear();
      idle.clear();
      await Promise.all(origins.map((origin) => origin.close(error)));
    },
    get size() {
      return known.size;
    },
  };
}
