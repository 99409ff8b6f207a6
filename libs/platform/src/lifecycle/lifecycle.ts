import type { Logger } from '../logging/logger.js';

/**
 * One started part of a process: the admin server, the first connection to Kafka, Nest, its HTTP server. Nest orders
 * its own contents by dependency, but it does not bound a stop, and a stop during a start runs the hooks of both at
 * once. So the process around it is a list of parts, which stop in reverse order.
 */
export interface LifecyclePart {
  readonly name: string;
  /** Resolves once the part works. A part that fails to start cleans up after itself. */
  start(): Promise<void> | void;
  /**
   * Also called while `start` is pending, if the application is stopped during its start. `budgetMs` is what is left of
   * the deadline.
   */
  stop(budgetMs: number): Promise<void> | void;
  /** Called after its stop: what it could not stop. */
  leftBehind?(): readonly string[];
  /** After this the stop is logged as overrun and the next part is stopped anyway. Default 5,000. */
  readonly stopTimeoutMs?: number;
}

export type PartState = 'waiting' | 'starting' | 'started' | 'failed' | 'stopping' | 'stopped';

export interface PartStatus {
  readonly name: string;
  readonly state: PartState;
  readonly ready: boolean;
}

export type StartResult = { readonly type: 'started' } | { readonly type: 'interrupted' };
export type StopResult = { readonly type: 'clean' } | { readonly type: 'unclean'; readonly parts: readonly string[] };

export interface Lifecycle {
  /** Appends parts, even while the last one starts: it may create some. */
  add(parts: readonly LifecyclePart[]): void;
  /**
   * Starts the parts in order. If one fails, those already started are stopped in reverse and the error is thrown.
   * `interrupted`: `stop` was called in the meantime.
   */
  start(): Promise<StartResult>;
  /** Stops in reverse order, never throws, and takes at most `deadlineMs` in all. Later calls return the first result. */
  stop(deadlineMs?: number): Promise<StopResult>;
  /** All parts have started. */
  ready(): boolean;
  status(): PartStatus[];
}

export interface LifecycleOptions {
  readonly logger: Logger;
  /** Monotonic milliseconds. */
  readonly monotonicMs: () => number;
}

const DEFAULT_STOP_TIMEOUT_MS = 5_000;
/** The time that an application has to stop. */
export const STOP_DEADLINE_MS = 7_000;

interface Slot {
  readonly part: LifecyclePart;
  state: PartState;
}

export function createLifecycle(options: LifecycleOptions): Lifecycle {
  const slots: Slot[] = [];
  let stopping: Promise<StopResult> | undefined;

  function add(more: readonly LifecyclePart[]): void {
    slots.push(...more.map((part): Slot => ({ part, state: 'waiting' })));
  }

  async function startAll(): Promise<StartResult> {
    // Includes the slots that a starting part adds: array iteration is live.
    for (const slot of slots) {
      if (stopping !== undefined) return { type: 'interrupted' };
      await startSlot(slot, options);
    }
    return { type: stopping === undefined ? 'started' : 'interrupted' };
  }

  async function start(): Promise<StartResult> {
    try {
      return await startAll();
    } catch (error) {
      // Stopping a part during its start may fail that start: that is the interruption, not a fault.
      if (stopping !== undefined) return { type: 'interrupted' };
      await stop();
      throw error;
    }
  }

  function stop(deadlineMs = STOP_DEADLINE_MS): Promise<StopResult> {
    stopping ??= stopSlots(slots, options.monotonicMs() + deadlineMs, options);
    return stopping;
  }

  return {
    add,
    start,
    stop,
    ready: () => stopping === undefined && slots.every(isReady),
    status: () => slots.map((slot) => ({ name: slot.part.name, state: slot.state, ready: isReady(slot) })),
  };
}

function isReady({ state }: Slot): boolean {
  return state === 'started';
}

async function startSlot(slot: Slot, { logger, monotonicMs }: LifecycleOptions): Promise<void> {
  const startedMs = monotonicMs();
  slot.state = 'starting';
  try {
    await slot.part.start();
    endStarting(slot, 'started');
  } catch (error) {
    endStarting(slot, 'failed');
    throw error;
  }
  logger.debug('part_started', { part: slot.part.name, durationMs: Math.round(monotonicMs() - startedMs) });
}

/** Skips a slot that a stop has taken over in the meantime. */
function endStarting(slot: Slot, state: 'started' | 'failed'): void {
  if (slot.state === 'starting') slot.state = state;
}

async function stopSlots(
  slots: readonly Slot[],
  deadlineUntilMs: number,
  options: LifecycleOptions,
): Promise<StopResult> {
  const unclean: string[] = [];
  for (const slot of slots.toReversed()) {
    if (slot.state !== 'starting' && slot.state !== 'started') continue;
    const isClean = await stopSlot(slot, Math.max(0, deadlineUntilMs - options.monotonicMs()), options);
    const leftBehind = slot.part.leftBehind?.() ?? [];
    if (!isClean || leftBehind.length > 0) unclean.push(...(leftBehind.length > 0 ? leftBehind : [slot.part.name]));
  }
  return unclean.length === 0 ? { type: 'clean' } : { type: 'unclean', parts: unclean };
}

async function stopSlot(slot: Slot, remainingMs: number, { logger, monotonicMs }: LifecycleOptions): Promise<boolean> {
  const startedMs = monotonicMs();
  const { name, stopTimeoutMs = DEFAULT_STOP_TIMEOUT_MS } = slot.part;
  slot.state = 'stopping';
  const result = await settleWithin(async () => slot.part.stop(remainingMs), Math.min(stopTimeoutMs, remainingMs));
  slot.state = 'stopped';
  const fields = { part: name, durationMs: Math.round(monotonicMs() - startedMs) };
  switch (result.type) {
    case 'done':
      logger.debug('part_stopped', fields);
      return true;
    case 'failed':
      logger.error('part_stop_failed', { ...fields, error: result.error });
      return false;
    case 'overrun':
      logger.error('part_stop_overrun', fields);
      return false;
  }
}

type Settled =
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'overrun' };

/** Runs `work` and waits at most `timeoutMs`; work that overruns continues unobserved, its errors swallowed. */
export async function settleWithin(work: () => Promise<void>, timeoutMs: number): Promise<Settled> {
  let timer: NodeJS.Timeout | undefined;
  const overrun = new Promise<Settled>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, { type: 'overrun' });
  });
  const done = work().then(
    (): Settled => ({ type: 'done' }),
    (error: unknown): Settled => ({ type: 'failed', error }),
  );
  try {
    return await Promise.race([done, overrun]);
  } finally {
    clearTimeout(timer);
  }
}
