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
