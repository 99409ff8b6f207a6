import { focusManager, useQueries, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Replay } from '@waypost/client';
import { useClient } from '../session/session.js';
import { isMissing } from '../shared/is-missing.js';
import { askedNext, type AskedReplay } from './asked-replays.js';
import { isOver, type ResendBatch } from './resend-batch.js';

const EVERY_MS = 1_000;

export interface ReplayStates {
  readonly replays: readonly Replay[];
  /** Why a replay could not be read, by its id. */
  readonly problems: ReadonlyMap<string, string>;
  /** How many of them do not exist any more. */
  readonly gone: number;
}

/** Those that were created. One that is gone, with its subscription or by its age, is not asked for again. */
export function useReplays({ items }: ResendBatch): ReplayStates {
  const client = useClient();
  const created = items.flatMap(({ subscriptionId: id, replayId }) => (replayId === null ? [] : [{ id, replayId }]));
  const results = useQueries({
    queries: created.map(({ id, replayId }) => ({
      queryKey: ['replay', replayId],
      queryFn: ({ signal }: { signal: AbortSignal }) => client.getReplay({ id, replayId }, { signal }),
    })),
  });
  useAskedInTurn(created.map(({ replayId }) => replayId));
  return {
    replays: results.flatMap(({ data, error }) => (data && (isOver(data) || !isMissing(error)) ? [data] : [])),
    problems: new Map(
      results.flatMap(({ error }, index) => (error ? [[created[index]?.replayId ?? '', error.message] as const] : [])),
    ),
    gone: results.filter(({ data, error }) => isMissing(error) && !(data && isOver(data))).length,
  };
}

/** One timer for all: intervals that depend on the number of replays would restart with every replay that begins. */
function useAskedInTurn(replayIds: readonly string[]): void {
  const queries = useQueryClient();
  const latest = useRef(replayIds);
  useEffect(() => {
    latest.current = replayIds;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      // A hidden tab does not poll.
      if (!focusManager.isFocused()) return;
      const replays = latest.current.map((replayId): AskedReplay => {
        const { state } = queries.getQueryCache().find<Replay>({ queryKey: ['replay', replayId] }) ?? {};
        return { replayId, state };
      });
      for (const replayId of askedNext(replays))
        void queries.refetchQueries({ queryKey: ['replay', replayId], exact: true });
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [queries]);
}
