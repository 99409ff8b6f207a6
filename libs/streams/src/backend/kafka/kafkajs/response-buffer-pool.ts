const LEASE = Symbol('waypost.streams.lease');

type Leased = ArrayBufferLike & { [LEASE]?: BufferLease };

/** Smaller responses are collected young, and cost nothing. */
const LEAST_BYTES = 256 * 1024;
/** Sizes are rounded up so that similar responses can share memory. */
const STEP_BYTES = 1024 * 1024;
/** Larger buffers, from a single exceptional response, are not kept. */
const MOST_BYTES = 16 * 1024 * 1024;
/** One buffer being filled and two being processed; at most 48 MiB per backend. */
const MOST_KEPT = 3;

/**
 * Memory for large responses: a consumer with a backlog needs hundreds of megabytes of it per second. Left to the
 * garbage collector it would be promoted to the old generation, and every 20 MB would trigger a mark of the whole heap:
 * 5 to 10 % of all work. So it is reused once every holder of a part has released it; memory that is not released is
 * collected as usual.
 */
export class ResponseBufferPool {
  private readonly free: Leased[] = [];

  take(size: number): Buffer {
    if (size < LEAST_BYTES) return Buffer.allocUnsafeSlow(size);
    const fitting = this.free.findIndex(({ byteLength }) => byteLength >= size);
    const [found] = fitting === -1 ? [] : this.free.splice(fitting, 1);
    const memory: Leased = found ?? Buffer.allocUnsafeSlow(Math.ceil(size / STEP_BYTES) * STEP_BYTES).buffer;
    memory[LEASE] = new BufferLease(() => this.keep(memory));
    return Buffer.from(memory, 0, size);
  }

  /** Keeps the largest buffers, which serve smaller responses too. */
  private keep(memory: Leased): void {
    if (memory.byteLength > MOST_BYTES) return;
    this.free.push(memory);
    if (this.free.length > MOST_KEPT) this.free.sort((a, b) => a.byteLength - b.byteLength).shift();
  }
}

/** Counts the holders of the memory of one response; after the last release it cannot be held again. */
export class BufferLease {
  private holders = 0;
  private ended = false;

  constructor(private readonly end: () => void) {}

  hold(): void {
    if (this.ended) throw new Error('A response buffer was used after its release.');
    this.holders++;
  }

  release(): void {
    this.holders--;
    if (this.holders > 0) return;
    this.ended = true;
    this.end();
  }
}

export function leaseOf({ buffer }: Buffer): BufferLease | null {
  return (buffer as Leased)[LEASE] ?? null;
}
