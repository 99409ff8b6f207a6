import { useMutation, useMutationState } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Replay, WaypostClient } from '@waypost/client';
import { useClient } from '../session/session.js';
import { keepRun, type Run, runOf } from './batch-runs.js';
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
  const mutationKey = ['resend', batch.id];
  const { mutate: create } = useMutation({
    mutationKey,
    mutationFn: () => keepRun(batch.id, begun(client, batch, save)),
    // It may fail while another page is shown.
    gcTime: Infinity,
  });
  // Also of one that was begun before this page was opened again.
  const creation = useMutationState({ filters: { mutationKey }, select: ({ state }) => state }).at(-1);
  const cancellation = useMutation({
    mutationFn: async () => {
      const { items } = (await runOf(batch.id)?.stop()) ?? batch;
      const over = new Set(replays.filter(isOver).map(({ replayId }) => replayId));
      const open = items.filter(({ replayId }) => !over.has(replayId ?? ''));
      return cancelCreated(open, ({ subscriptionId: id, replayId }) => client.cancelReplay({ id, replayId }));
    },
  });
  useBeginning(batch.id, create);
  const isCreating = creation?.status === 'pending';
  return { create, isCreating, cancellation, error: creation?.error ?? cancellation.error };
}

/** Only once for a batch, and not when one comes back to the page. */
function useBeginning(id: string, create: () => void): void {
  useEffect(() => {
    const state = history.state as { readonly begin?: string } | null;
    if (state?.begin !== id) return;
    history.replaceState({ ...state, begin: null }, '');
    create();
  }, [id, create]);
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
