/** Waits for changes to reach their topics. */
export abstract class PublishedChanges {
  /** @returns false if they are not published within 3 s; they will be, later */
  abstract wait(outboxIds: readonly string[]): Promise<boolean>;
}

export interface PublishedChangesDeps {
  readonly isPublished: (outboxIds: readonly string[]) => Promise<boolean>;
  readonly monotonicMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const POLL_MS = 20;
const TIMEOUT_MS = 3_000;

/**
 * A caller that has been shown a subscription gets every event committed from then on, so responses wait here; after a
 * while they stop waiting, since the change is durable and will be published. What they say then is for the caller to
 * decide. The database is polled because any process may be the one that publishes, also while this one stops.
 */
export function createPublishedChanges(deps: PublishedChangesDeps): PublishedChanges {
  const { isPublished, monotonicMs, sleep } = deps;
  return {
    async wait(outboxIds) {
      if (outboxIds.length === 0) return true;
      const deadlineMs = monotonicMs() + TIMEOUT_MS;
      while (monotonicMs() < deadlineMs) {
        if (await isPublished(outboxIds)) return true;
        await sleep(POLL_MS);
      }
      return false;
    },
  };
}
