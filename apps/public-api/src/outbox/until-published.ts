export interface UntilPublishedDeps {
  readonly isPublished: (outboxIds: readonly string[]) => Promise<boolean>;
  /** Nothing more will be published from this process. */
  readonly isStopping: () => boolean;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly timeoutMs?: number;
}

const POLL_MS = 20;
const TIMEOUT_MS = 3_000;

/**
 * Waits until changes are in their topic, so that whoever is told of a subscription gets every event committed from
 * then on. Gives up after a while: the change is durable and will be published. Asks the database, because any
 * process may be the one that publishes.
 */
export function createUntilPublished(deps: UntilPublishedDeps): (outboxIds: readonly string[]) => Promise<void> {
  const { isPublished, isStopping, now, sleep, timeoutMs = TIMEOUT_MS } = deps;
  return async (outboxIds) => {
    const giveUpAt = now() + timeoutMs;
    while (!isStopping() && now() < giveUpAt) {
      if (await isPublished(outboxIds)) return;
      await sleep(POLL_MS);
    }
  };
}
