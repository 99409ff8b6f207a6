import { WaypostApiError } from '@waypost/client';

export interface Remembered {
  readonly idempotencyKey: string;
  /** When it was first sent. */
  readonly firstAtMs: number;
}

interface Sources {
  readonly newKey: () => string;
  readonly nowMs: () => number;
}

/**
 * Remembers a request until it is known whether the service carried it out. If the response was lost, the same request is
 * sent again with the same key, so that it is carried out only once. Another request gets another key.
 */
export function requestMemory({ newKey, nowMs }: Sources) {
  let last: (Remembered & { readonly text: string }) | null = null;
  return {
    recall(request: unknown): Remembered {
      const text = JSON.stringify(request);
      if (last?.text !== text) last = { text, idempotencyKey: newKey(), firstAtMs: nowMs() };
      return last;
    },
    forget(): void {
      last = null;
    },
  };
}

/** Whether the service said that it did not carry out the request. Pressing again is then a new request. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof WaypostApiError) || error.status >= 500) return false;
  // Before a 429, an attempt without a response may have been carried out.
  return error.status === 429 ? error.attempts === 1 : error.code !== 'idempotency_in_progress';
}
