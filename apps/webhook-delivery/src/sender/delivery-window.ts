import type { DeliveryProgress, WebhookDelivery } from '@waypost/domain';

/** A delivery that was read and is not known to be finished. */
export interface PendingDelivery {
  readonly offset: number;
  readonly delivery: WebhookDelivery;
  progress: DeliveryProgress;
  /** When the next attempt is due, epoch ms. */
  dueAt: number;
}

export interface CommitPoint {
  /** The lowest unfinished delivery; everything before it is never read again. */
  readonly offset: number;
  /** Every attempt of a delivery from `offset` on lies at or after this offset of the attempts log. */
  readonly foldFrom: number;
}

interface Slot {
  readonly offset: number;
  readonly foldFrom: number;
  finished: boolean;
}

/**
 * What has been read of a partition of deliveries and what of it is finished. Deliveries finish in any order; the
 * commit point moves over them in order, so that a successor finds every unfinished one again.
 */
export interface DeliveryWindow {
  /** Offsets come in log order; `foldFrom` never falls. */
  admit(offset: number, foldFrom: number): void;
  finish(offset: number): void;
  /** The position behind the last batch, markers included. */
  advanceTo(nextOffset: number, foldFrom: number): void;
  commitPoint(): CommitPoint;
  readonly pending: number;
}

const COMPACT_AFTER = 4_096;

export const createDeliveryWindow = (start: CommitPoint): DeliveryWindow => {
  let slots: Slot[] = [];
  let head = 0;
  let pending = 0;
  let end = start;
  const byOffset = new Map<number, Slot>();

  const dropFinished = (): void => {
    for (let slot = slots[head]; slot?.finished === true; slot = slots[head]) head++;
    if (head > COMPACT_AFTER) {
      slots = slots.slice(head);
      head = 0;
    }
  };

  return {
    get pending() {
      return pending;
    },
    admit: (offset, foldFrom) => {
      const slot = { offset, foldFrom, finished: false };
      slots.push(slot);
      byOffset.set(offset, slot);
      pending++;
    },
    finish: (offset) => {
      const slot = byOffset.get(offset);
      if (!slot) return;
      slot.finished = true;
      byOffset.delete(offset);
      pending--;
      dropFinished();
    },
    advanceTo: (offset, foldFrom) => {
      end = { offset, foldFrom };
    },
    commitPoint: () => {
      const first = slots[head];
      return first ? { offset: first.offset, foldFrom: first.foldFrom } : end;
    },
  };
};
