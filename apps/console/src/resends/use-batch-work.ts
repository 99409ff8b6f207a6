import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Replay, WaypostClient } from '@waypost/client';
import { useClient } from '../session/session.js';
import { cancelCreated, createMissing, idempotencyKeyOf, isOver, type ResendBatch } from './resend-batch.js';

interface BatchWork {
  readonly batch: ResendBatch;
  /** As far as they are known. */
  readonly replays: readonly Replay[];
  readonly save: (batch: ResendBatch) => void;
}

/** Creates the replays of a batch, and cancels them. A batch that was just made is begun at once. */
export function useBatchWork({ batch, replays, save }: BatchWork) {
  const client = useClient();
  const run = useRef<Run | null>(null);
  const creation = useMutation({
    mutationFn: () => {
      run.current = begun(client, batch, save);
      return run.current.done;
    },
  });
  const cancellation = useMutation({
    mutationFn: async () => {
      const running = creation.isPending ? run.current : null;
      const { items } = (await running?.stop()) ?? batch;
      const over = new Set(replays.filter(isOver).map(({ replayId }) => replayId));
      const open = items.filter(({ replayId }) => !over.has(replayId ?? ''));
      return cancelCreated(open, ({ subscriptionId: id, replayId }) => client.cancelReplay({ id, replayId }));
    },
  });
  const { mutate: create } = creation;
  // Without its card nothing could stop it. What is missing then can be begun when the card is back.
  useEffect(() => () => void run.current?.stop(), []);
  useBeginning(batch.id, create);
  return { creation, cancellation };
}

/** Only once for a batch, and not when one comes back to the page. */
function useBeginning(id: string, create: () => void): void {
  useEffect(() => {
    // Not at once: React mounts a page twice while one develops it, and the first of the two stops what it has begun.
    const timer = setTimeout(() => {
      const state = history.state as { readonly begin?: string } | null;
      if (state?.begin !== id) return;
      history.replaceState({ ...state, begin: null }, '');
      create();
    });
    return () => clearTimeout(timer);
  }, [id, create]);
}

interface Run {
  readonly done: Promise<void>;
  /** Lets the request that is under way end, and returns the batch as it is then. */
  readonly stop: () => Promise<ResendBatch>;
}

function begun(client: WaypostClient, batch: ResendBatch, save: BatchWork['save']): Run {
  const stopper = new AbortController();
  let latest = batch;
  const done = createMissing(batch, {
    create: (item) =>
      client.createReplay(
        { id: item.subscriptionId, body: batch.body },
        { idempotencyKey: idempotencyKeyOf(batch, item) },
      ),
    save(next) {
      latest = next;
      save(next);
    },
    signal: stopper.signal,
  });
  return {
    done,
    async stop() {
      stopper.abort();
      await done.catch(() => undefined);
      return latest;
    },
  };
}
