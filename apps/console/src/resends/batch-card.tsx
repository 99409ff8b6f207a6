import { useMutation, useQueries } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link } from 'wouter';
import type { Replay, WaypostClient } from '@waypost/client';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { Moment } from '../shared/moment.js';
import { StatusBadge } from '../shared/status-badge.js';
import { countText } from '../shared/time-text.js';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';
import { idempotencyKeyOf, isOver, progressOf, type ResendBatch, withReplay } from './resend-batch.js';

const EVERY_MS = 1_000;
/** After a day the service has forgotten the keys that keep a replay from being created twice. */
const CONTINUED_WITHIN_MS = 23 * 3_600_000;

interface BatchCardProps {
  readonly batch: ResendBatch;
  readonly save: (batch: ResendBatch) => void;
  readonly forget: () => void;
}

/** One replay per subscription, and all of them together. */
export function BatchCard({ batch, save, forget }: BatchCardProps) {
  const client = useClient();
  const { id, createdAtMs, text, items } = batch;
  const replays = useReplays(batch);
  const { matched, sent, open } = progressOf(items, replays);
  const missing = items.filter(({ replayId }) => replayId === null).length;
  const creation = useMutation({ mutationFn: () => createMissing(client, batch, save) });
  const cancellation = useMutation({ mutationFn: () => cancelAll(client, replays) });
  const { mutate: create } = creation;

  useEffect(() => {
    const state = history.state as { readonly begin?: string } | null;
    if (state?.begin !== id) return;
    history.replaceState({ ...state, begin: null }, '');
    create();
  }, [id, create]);

  return (
    <section className="card" aria-labelledby={id}>
      <div className="title">
        <h2 id={id} className="text">
          {text}
        </h2>
        <span className="hint">
          <Moment iso={new Date(createdAtMs).toISOString()} />
        </span>
        {missing > 0 && !creation.isPending && nowMs() - createdAtMs < CONTINUED_WITHIN_MS && (
          <button type="button" onClick={() => create()}>
            Begin the other {countText(missing)}
          </button>
        )}
        {replays.some((replay) => !isOver(replay)) && (
          <button type="button" onClick={() => cancellation.mutate()} disabled={cancellation.isPending}>
            Cancel all
          </button>
        )}
        {replays.every(isOver) && !creation.isPending && (
          <button type="button" className="quiet" onClick={forget}>
            Forget
          </button>
        )}
      </div>
      <p role="status">
        {countText(sent)} of {countText(matched)} deliveries passed to the sender
        {open > 0 && `, ${countText(open)} of ${countText(items.length)} replays are not over`}
      </p>
      <progress max={Math.max(1, matched)} value={open === 0 ? Math.max(1, matched) : sent} aria-label="Sent again" />
      <p role="alert" className="problem">
        {(creation.error ?? cancellation.error)?.message}
      </p>
      <Replays batch={batch} replays={replays} />
    </section>
  );
}

function Replays({ batch, replays }: { readonly batch: ResendBatch; readonly replays: readonly Replay[] }) {
  const names = new Map(useSubscriptions().map((one) => [one.id, subscriptionName(one)]));
  return (
    <details>
      <summary>By subscription</summary>
      <ul className="plain replays">
        {batch.items.map(({ subscriptionId, replayId }) => {
          const replay = replays.find((one) => one.replayId === replayId);
          return (
            <li key={subscriptionId}>
              <Link href={`/subscriptions/${subscriptionId}`} className="text">
                {names.get(subscriptionId) ?? subscriptionId}
              </Link>
              <StatusBadge status={replay?.state ?? (replayId === null ? 'not begun' : 'unknown')} />
              <span className="number">
                {replay ? `${countText(replay.progress.sent)} of ${countText(replay.progress.matched ?? 0)}` : ''}
              </span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}

/** Those that were created, as far as they could be read. */
function useReplays({ items }: ResendBatch): Replay[] {
  const client = useClient();
  return useQueries({
    queries: items.flatMap(({ subscriptionId: id, replayId }) =>
      replayId === null
        ? []
        : [
            {
              queryKey: ['replay', replayId],
              queryFn: ({ signal }: { signal: AbortSignal }) => client.getReplay({ id, replayId }, { signal }),
              refetchInterval: ({ state }: { state: { data?: Replay | undefined } }) =>
                state.data && isOver(state.data) ? (false as const) : EVERY_MS,
            },
          ],
    ),
    combine: (results) => results.flatMap(({ data }) => (data ? [data] : [])),
  });
}

/** One after the other: a fleet may have hundreds. What was created is kept at once. */
async function createMissing(client: WaypostClient, batch: ResendBatch, save: BatchCardProps['save']): Promise<void> {
  let current = batch;
  for (const item of batch.items) {
    if (item.replayId !== null) continue;
    const input = { id: item.subscriptionId, body: batch.body };
    const replay = await client.createReplay(input, { idempotencyKey: idempotencyKeyOf(batch, item) });
    current = withReplay(current, replay);
    save(current);
  }
}

async function cancelAll(client: WaypostClient, replays: readonly Replay[]): Promise<void> {
  for (const replay of replays) {
    if (isOver(replay)) continue;
    const { subscriptionId: id, replayId } = replay;
    await client.cancelReplay({ id, replayId });
  }
}
