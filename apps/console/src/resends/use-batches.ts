import { useOwnList } from '../shared/use-own-list.js';
import { decodeBatch, type ResendBatch } from './resend-batch.js';

const KEPT = 20;

export interface Batches {
  /** Newest first. */
  readonly batches: readonly ResendBatch[];
  /** Adds it, or takes the place of the one with its id. */
  readonly save: (batch: ResendBatch) => void;
  readonly forget: (id: string) => void;
}

/** What was resent from this browser: one can come back to its progress. The replays themselves are of the service. */
export function useBatches(): Batches {
  const { items, change } = useOwnList('waypost.resends', decodeBatch);
  return {
    batches: items,
    save: (batch) =>
      change((all) =>
        all.some(({ id }) => id === batch.id)
          ? all.map((one) => (one.id === batch.id ? batch : one))
          : [batch, ...all].slice(0, KEPT),
      ),
    forget: (id) => change((all) => all.filter((one) => one.id !== id)),
  };
}
