import { type ErrorResponse, WaypostApiError, WaypostConnectionError } from './errors.js';

export interface RetryOptions {
  /** How often a request is repeated at most; 3 by default, 0 turns retries off. */
  readonly retries?: number;
  /** The first wait, which doubles; 500 by default. */
  readonly baseDelayMs?: number;
  /**
   * The longest wait, also for `Retry-After`: a service that asks for more gets no retry, and a stream, which has no end,
   * waits no longer; 30,000 by default.
   */
  readonly maxDelayMs?: number;
}

export const MAX_DELAY_MS = 30_000;

/** What came of one attempt. */
export type Attempt<T> =
  | { readonly type: 'done'; readonly value: T }
  | { readonly type: 'refused'; readonly response: ErrorResponse }
  | { readonly type: 'unreachable'; readonly cause: unknown };

/** Statuses after which the same request may do better; 409 only while another one with its key is in progress. */
const TEMPORARY = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * Repeats an attempt that failed for a while. A request that is not `repeatable` (it would be carried out twice) is
 * repeated only when the service says that it did nothing.
 *
 * @param attempt gets whether an earlier one may have been carried out, though its response does not say so
 * @throws WaypostApiError, WaypostConnectionError, or the reason of the signal
 */
export async function withRetries<T>(
  attempt: (mayBeDone: boolean) => Promise<Attempt<T>>,
  isRepeatable: boolean,
  options: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { retries = 3, maxDelayMs = MAX_DELAY_MS } = options;
  let mayBeDone = false;
  for (let number = 1; ; number++) {
    signal?.throwIfAborted();
    const outcome = await attempt(mayBeDone);
    if (outcome.type === 'done') return outcome.value;
    mayBeDone ||= outcome.type === 'unreachable' || outcome.response.status >= 500;
    signal?.throwIfAborted();
    const delayMs = Math.max(
      backOffMs(number, options),
      outcome.type === 'refused' ? (outcome.response.retryAfterMs ?? 0) : 0,
    );
    if (number > retries || delayMs > maxDelayMs || !isTemporary(outcome, isRepeatable)) {
      if (outcome.type === 'refused') throw new WaypostApiError(outcome.response, number);
      throw new WaypostConnectionError(outcome.cause, number);
    }
    await sleep(delayMs, signal);
  }
}

/** The wait after the n-th failure. Half of it is by chance, so that many clients do not return at once. */
export function backOffMs(number: number, { baseDelayMs = 500, maxDelayMs = MAX_DELAY_MS }: RetryOptions): number {
  return Math.min(maxDelayMs, baseDelayMs * 2 ** (number - 1)) * (0.5 + Math.random() / 2);
}

export function isTemporary(outcome: Exclude<Attempt<unknown>, { type: 'done' }>, isRepeatable: boolean): boolean {
  if (outcome.type === 'unreachable') return isRepeatable;
  const { status, code } = outcome.response;
  if (status === 429) return true;
  return isRepeatable && (TEMPORARY.has(status) || code === 'idempotency_in_progress');
}

export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    function onAbort(): void {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    }
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
