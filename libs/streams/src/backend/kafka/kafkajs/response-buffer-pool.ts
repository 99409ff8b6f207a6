const LEASE = Symbol('waypost.streams.lease');

type Leased = ArrayBufferLike & { [LEASE]?: BufferLease };

/** Smaller responses are garbage before they are old, and cost nothing. */
const LEAST_BYTES = 256 * 1024;
/** Responses of nearly one size find room in each other's memory. */
const STEP_BYTES = 1024 * 1024;
/** Of one that is far larger than what is asked for, once: not to be kept. */
const MOST_BYTES = 16 * 1024 * 1024;
/** One that is being filled and two that are being worked on; 48 MiB of a process at most. */
const MOST_KEPT = 3;

/**
 * Memory for large responses, of which a consumer with a backlog needs hundreds of megabytes a second. Left to the garbage
 * collector it counts as old by the time it is free, and each 20 MB of it have the whole heap marked, whatever is in it: a
 * twentieth to a tenth of all work. So it is used again once everybody who holds a part of it has let go; what nobody lets go
 * of is collected like any other.
 */
export class ResponseBufferPool {
  private readonly free: Leased[] = [];

  /** A buffer of that size with undefined content. */
  take(size: number): Buffer {
    if (size < LEAST_BYTES) return Buffer.allocUnsafeSlow(size);
    const fitting = this.free.findIndex(({ byteLength }) => byteLength >= size);
    const [found] = fitting === -1 ? [] : this.free.splice(fitting, 1);
    const memory: Leased = found ?? Buffer.allocUnsafeSlow(Math.ceil(size / STEP_BYTES) * STEP_BYTES).buffer;
    memory[LEASE] = new BufferLease(() => {
      this.keep(memory);
    });
    return Buffer.from(memory, 0, size);
  }

  /** The larger ones: they serve for smaller responses too. */
  private keep(memory: Leased): void {
    if (memory.byteLength > MOST_BYTES) return;
    this.free.push(memory);
    if (this.free.length > MOST_KEPT) this.free.sort((a, b) => a.byteLength - b.byteLength).shift();
  }
}

/** The memory of one response, until all who have held it have let go: nobody can hold it again then. */
export class BufferLease {
  private holders = 0;
  private ended = false;

  constructor(private readonly end: () => void) {}

  hold(): void {
    if (this.ended) throw new Error('The memory of this response may be that of another one by now.');
    this.holders++;
  }

  release(): void {
    this.holders--;
    if (this.holders > 0) return;
    this.ended = true;
    this.end();
  }
}

/** null: the memory of this buffer is nobody's to give back. */
export function leaseOf({ buffer }: Buffer): BufferLease | null {
  return (buffer as Leased)[LEASE] ?? null;
}
