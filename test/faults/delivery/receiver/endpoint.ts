/** How an endpoint treats its callers. It decides by the attempt number, so that a repeat gets the same answer. */
export const BEHAVIOURS = ['healthy', 'slow', 'always-503', 'first-503', 'refuses'] as const;
export type EndpointBehaviour = (typeof BEHAVIOURS)[number];

export const SLOW_MS = 300;

export interface Answer {
  readonly status: number;
  readonly delayMs: number;
}

/** null: nobody listens there. */
export function answerOf(behaviour: EndpointBehaviour, attempt: number): Answer | null {
  switch (behaviour) {
    case 'healthy':
      return { status: 200, delayMs: 0 };
    case 'slow':
      return { status: 200, delayMs: SLOW_MS };
    case 'always-503':
      return { status: 503, delayMs: 0 };
    case 'first-503':
      return { status: attempt === 1 ? 503 : 200, delayMs: 0 };
    case 'refuses':
      return null;
  }
}
