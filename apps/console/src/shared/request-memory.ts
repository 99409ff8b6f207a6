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
 * Remembers a request until it was carried out. When its response was lost, nobody knows whether it was: sent again under
 * its key, it is carried out once, and answered as the first time. Another request gets another key.
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

/** Whether the service has said that the request was not carried out. Then the next one is not the same, even with the same text. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof WaypostApiError) || error.status >= 500) return false;
  // Before a 429, an attempt without a response may have been carried out.
  return error.status === 429 ? error.attempts === 1 : error.code !== 'idempotency_in_progress';
}
