import type { DeliveryStatus } from '@waypost/domain';

/** The offsets of the deliveries that a replay sends again. */
export interface Selection {
  has(offset: number): boolean;
  readonly matched: number;
  /** Lowest and highest offset; -1: none. */
  readonly first: number;
  readonly last: number;
}

export interface DeliveryMarks {
  /** A later mark of the same offset replaces an earlier one. */
  mark(offset: number, status: DeliveryStatus): void;
  select(isWanted: (status: DeliveryStatus) => boolean): Selection;
}

const STATUS_OF: readonly (DeliveryStatus | null)[] = [null, 'pending', 'delivered', 'failed'];
const BITS = { pending: 1, delivered: 2, failed: 3 } as const satisfies Record<DeliveryStatus, number>;

const PAGE_OFFSETS = 1_024;
const OFFSETS_PER_BYTE = 4;

/**
 * How each delivery of a partition stands, at two bits an offset and only where there are any: whatever a replay
 * matches, it cannot need more than about 40 MB for 100 million deliveries.
 */
export const createDeliveryMarks = (): DeliveryMarks => new PagedMarks();

class PagedMarks implements DeliveryMarks {
  private readonly pages = new Map<number, Uint8Array>();

  mark(offset: number, status: DeliveryStatus): void {
    const number = Math.floor(offset / PAGE_OFFSETS);
    let page = this.pages.get(number);
    if (!page) this.pages.set(number, (page = new Uint8Array(PAGE_OFFSETS / OFFSETS_PER_BYTE)));
    const within = offset % PAGE_OFFSETS;
    const shift = (within % OFFSETS_PER_BYTE) * 2;
    const index = Math.floor(within / OFFSETS_PER_BYTE);
    page[index] = ((page[index] ?? 0) & ~(3 << shift)) | (BITS[status] << shift);
  }

  select(isWanted: (status: DeliveryStatus) => boolean): Selection {
    const has = (offset: number): boolean => {
      const status = this.statusOf(offset);
      return status !== null && isWanted(status);
    };
    let matched = 0;
    let first = -1;
    let last = -1;
    for (const number of [...this.pages.keys()].sort((a, b) => a - b)) {
      for (let offset = number * PAGE_OFFSETS; offset < (number + 1) * PAGE_OFFSETS; offset++) {
        if (!has(offset)) continue;
        matched++;
        if (first < 0) first = offset;
        last = offset;
      }
    }
    return { has, matched, first, last };
  }

  private statusOf(offset: number): DeliveryStatus | null {
    const page = this.pages.get(Math.floor(offset / PAGE_OFFSETS));
    if (!page) return null;
    const within = offset % PAGE_OFFSETS;
    const bits = (page[Math.floor(within / OFFSETS_PER_BYTE)] ?? 0) >> ((within % OFFSETS_PER_BYTE) * 2);
    return STATUS_OF[bits & 3] ?? null;
  }
}
