/** Waits for changes to reach their topics. */
export abstract class PublishedChanges {
  abstract wait(outboxIds: readonly string[]): Promise<void>;
}

export interface PublishedChangesDeps {
  readonly isPublished: (outboxIds: readonly string[]) => Promise<boolean>;
  /** Nothing more will be published by this process. */
  readonly isStopping: () => boolean;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

const POLL_MS = 20;
const TIMEOUT_MS = 3_000;

/**
 * A caller that has been shown a subscription gets every event committed from then on, so responses wait here; after a
 * while they stop waiting, since the change is durable and will be published. The database is polled because any process
 * may be the one that publishes.
 */
export function createPublishedChanges(deps: PublishedChangesDeps): PublishedChanges {
  const { isPublished, isStopping, now, sleep } = deps;
  return {
    async wait(outboxIds) {
      const deadlineMs = now() + TIMEOUT_MS;
      while (!isStopping() && now() < deadlineMs) {
        if (await isPublished(outboxIds)) return;
        await sleep(POLL_MS);
      }
    },
  };
}
