import type { ClientIdentity } from '../certificate/client-certificate.js';
import type { AbortGroup, AbortGroupMember } from './abort-group.js';
import { Origin, type OriginOptions, type OriginOwner, type OriginTarget, WriteBatcher } from './origin.js';

export interface OriginPoolOptions extends OriginOptions {
  readonly maxIdleOrigins: number;
  /** The maximum number of sockets of all origins, including connections being opened. */
  readonly maxSockets: number;
  /** Called every second. */
  readonly onSweep?: () => void;
}

const SWEEP_INTERVAL_MS = 1_000;
const RESERVED_PART = 1 / 4;
const GROWTH_DIVISOR = 4;
const MIN_SHARE = 2;

/**
 * One set of connections per origin and client certificate. Origins in use are always kept; idle ones only while they
 * are among the most recently used, so that memory stays bounded however many origins are called over time.
 */
export class OriginPool implements AbortGroupMember, OriginOwner {
  private readonly known = new Map<string, Origin>();
  /** Ordered by use, oldest first: sets keep the order of insertion. */
  private readonly idle = new Set<Origin>();
  /** How many connections beyond one each idle origin has. */
  private readonly spare = new Map<Origin, number>();
  private spareSockets = 0;
  /** Origins without room for one more socket; the longest wait first. */
  private readonly starved = new Set<Origin>();
  private sockets = 0;
  private readonly batcher = new WriteBatcher();
  // A connection past its age is never reused; the sweep also closes it if no request comes.
  private readonly sweeper: NodeJS.Timeout;

  constructor(private readonly options: OriginPoolOptions) {
    this.sweeper = setInterval(() => {
      this.options.onSweep?.();
      for (const origin of this.known.values()) origin.sweep();
    }, SWEEP_INTERVAL_MS).unref();
  }

  /** @param identity ignored for http */
  of(target: OriginTarget, identity?: ClientIdentity): Origin {
    const shown = target.protocol === 'https:' ? identity : undefined;
    const key = shown === undefined ? target.origin : `${target.origin} ${shown.id}`;
    const existing = this.known.get(key);
    if (existing !== undefined) return existing;
    const origin = new Origin({ ...target, key, identity: shown }, this, this.batcher, this.options);
    this.known.set(key, origin);
    return origin;
  }

  get size(): number {
    return this.known.size;
  }

  onBusy(origin: Origin): void {
    this.idle.delete(origin);
    this.setSpare(origin, 0);
  }

  onIdle(origin: Origin): void {
    this.idle.add(origin);
    this.setSpare(origin, origin.sockets - 1);
    for (const surplus of this.idle) {
      if (this.idle.size <= this.options.maxIdleOrigins) return;
      this.idle.delete(surplus);
      this.setSpare(surplus, 0);
      this.known.delete(surplus.place.key);
      void surplus.close(new Error('the origin was evicted from the pool'));
    }
  }

  /**
   * An origin may grow to a quarter of what is unused: one alone gets all that it wants, many greedy ones get equal
   * parts, and some is left for others. A part is reserved for origins that have next to nothing. Idle
   * connections count as unused, except for the last one of each origin: if there is no room, one of them is closed for
   * an origin below its share. So while all want no more than half of the sockets, each origin gets all that it wants
   * up to a sixteenth of them.
   */
  takeSocket(origin: Origin): boolean {
    const { maxSockets } = this.options;
    const unused = maxSockets - this.sockets;
    const reserved = maxSockets * RESERVED_PART;
    const hasNextToNothing = origin.sockets < MIN_SHARE;
    const isBelowShare = hasNextToNothing || origin.sockets < (unused + this.spareSockets - reserved) / GROWTH_DIVISOR;
    if (isBelowShare && unused > (hasNextToNothing ? 0 : reserved)) {
      this.sockets += 1;
      return true;
    }
    this.starved.add(origin);
    if (isBelowShare) this.closeIdle({ isLastOne: hasNextToNothing });
    return false;
  }

  /**
   * Each closed one wakes origins without room, each of which may ask for the next: an origin's last connection is
   * closed only for those that have next to nothing.
   */
  private closeIdle({ isLastOne }: { isLastOne: boolean }): void {
    for (const origin of this.spare.keys()) {
      if (origin.closeIdle({ kept: 1 })) return;
      this.setSpare(origin, 0);
    }
    if (!isLastOne) return;
    for (const origin of this.idle) if (origin.closeIdle({ kept: 0 })) return;
  }

  private setSpare(origin: Origin, count: number): void {
    this.spareSockets += Math.max(0, count) - (this.spare.get(origin) ?? 0);
    if (count > 0) this.spare.set(origin, count);
    else this.spare.delete(origin);
  }

  returnSocket(origin: Origin): void {
    this.sockets -= 1;
    if (this.spare.has(origin)) this.setSpare(origin, origin.sockets - 1);
    if (this.starved.size === 0) return;
    const starved = [...this.starved];
    this.starved.clear();
    for (const origin of starved) origin.wake();
  }

  abort(group: AbortGroup): void {
    for (const origin of this.known.values()) origin.abort(group);
  }

  async close(error: Error): Promise<void> {
    clearInterval(this.sweeper);
    const origins = [...this.known.values()];
    this.known.clear();
    this.idle.clear();
    this.spare.clear();
    await Promise.all(origins.map((origin) => origin.close(error)));
  }
}
