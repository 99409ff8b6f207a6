import { useQueries, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Replay } from '@waypost/client';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { isMissing } from '../shared/is-missing.js';
import { Moment } from '../shared/moment.js';
import { ActionError } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { countText } from '../shared/time-text.js';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';
import { canContinue, isForgettable, isOver, pollEveryMs, progressOf, type ResendBatch } from './resend-batch.js';
import { useBatchWork } from './use-batch-work.js';

interface BatchCardProps {
  readonly batch: ResendBatch;
  readonly save: (batch: ResendBatch) => void;
  readonly forget: () => void;
}

/** One replay per subscription, and all of them together. */
export function BatchCard({ batch, save, forget }: BatchCardProps) {
  const { id, createdAtMs, text, items } = batch;
  const { replays, problems, gone } = useReplays(batch);
  const { matched, sent, open, refused } = progressOf(items, replays, gone);
  const missing = items.filter(({ replayId }) => replayId === null).length;
  const { create, isCreating, cancellation, error } = useBatchWork({ batch, replays, save });
  const isWorking = isCreating || cancellation.isPending;

  return (
    <section className="card" aria-labelledby={id}>
      <div className="title">
        <h2 id={id} className="text">
          {text}
        </h2>
        <span className="hint">
          <Moment iso={new Date(createdAtMs).toISOString()} />
        </span>
        {!isWorking && canContinue(batch, nowMs()) && (
          <button type="button" onClick={() => create()}>
            Start the other {countText(missing)}
          </button>
        )}
        {(isCreating || replays.some((replay) => !isOver(replay))) && (
          <button type="button" onClick={() => cancellation.mutate()} disabled={cancellation.isPending}>
            Cancel all
          </button>
        )}
        {!isWorking && isForgettable(batch, replays, { gone, nowMs: nowMs() }) && (
          <button type="button" className="quiet" onClick={forget}>
            Forget
          </button>
        )}
      </div>
      <p role="status">
        {countText(sent)} of {countText(matched)} deliveries passed to the sender
        {open > 0 && `, ${countText(open)} of ${countText(items.length)} replays are unfinished`}
        {refused > 0 &&
          `, ${countText(refused)} of ${countText(items.length)} subscriptions rejected their replay: see below`}
      </p>
      <progress
        max={Math.max(1, matched)}
        value={open === 0 ? Math.max(1, matched) : sent}
        aria-label="Passed to the sender"
      />
      {isCreating && (
        <p className="hint">The replays are being started from this tab. Keep it open until all of them are.</p>
      )}
      <ActionError error={error} />
      <Replays batch={batch} replays={replays} problems={problems} />
    </section>
  );
}

interface ReplaysProps extends Pick<ReplayStates, 'replays' | 'problems'> {
  readonly batch: ResendBatch;
}

function Replays({ batch, replays, problems }: ReplaysProps) {
  const names = new Map(useSubscriptions().items.map((one) => [one.id, subscriptionName(one)]));
  return (
    <details open={batch.items.some(({ refusal }) => refusal !== undefined)}>
      <summary>By subscription</summary>
      <ul className="plain replays">
        {batch.items.map(({ subscriptionId, replayId, refusal }) => {
          const replay = replays.find((one) => one.replayId === replayId);
          const problem = replayId === null ? refusal : problems.get(replayId);
          return (
            <li key={subscriptionId}>
              <Link href={`/subscriptions/${subscriptionId}`} className="text">
                {names.get(subscriptionId) ?? subscriptionId}
              </Link>
              <StatusBadge status={replay?.state ?? stateOf(replayId, refusal)} />
              <span className="number">
                {replay ? `${countText(replay.progress.sent)} of ${countText(replay.progress.matched ?? 0)}` : ''}
              </span>
              {problem !== undefined && <span className="problem">{problem}</span>}
            </li>
          );
        })}
      </ul>
    </details>
  );
}

function stateOf(replayId: string | null, refusal: string | undefined): string {
  if (replayId !== null) return 'unknown';
  return refusal === undefined ? 'not started' : 'refused';
}

interface ReplayStates {
  readonly replays: readonly Replay[];
  /** Why a replay could not be read, by its id. */
  readonly problems: ReadonlyMap<string, string>;
  /** How many of them do not exist any more. */
  readonly gone: number;
}

/** Those that were created. One that is gone, with its subscription or by its age, is not asked for again. */
function useReplays({ items }: ResendBatch): ReplayStates {
  const client = useClient();
  const queries = useQueryClient();
  const created = items.flatMap(({ subscriptionId: id, replayId }) => (replayId === null ? [] : [{ id, replayId }]));
  const open = created.filter(({ replayId }) => isAsked(queries.getQueryState<Replay>(['replay', replayId])));
  const everyMs = pollEveryMs(open.length);
  const results = useQueries({
    queries: created.map(({ id, replayId }) => ({
      queryKey: ['replay', replayId],
      queryFn: ({ signal }: { signal: AbortSignal }) => client.getReplay({ id, replayId }, { signal }),
      refetchInterval: ({ state }: { state: ReplayQueryState }) => isAsked(state) && everyMs,
    })),
  });
  return {
    replays: results.flatMap(({ data, error }) => (data && (isOver(data) || !isMissing(error)) ? [data] : [])),
    problems: new Map(
      results.flatMap(({ error }, index) => (error ? [[created[index]?.replayId ?? '', error.message] as const] : [])),
    ),
    gone: results.filter(({ data, error }) => isMissing(error) && !(data && isOver(data))).length,
  };
}

interface ReplayQueryState {
  readonly data?: Replay | undefined;
  readonly error: Error | null;
}

function isAsked(state: ReplayQueryState | undefined): boolean {
  return state === undefined || !(isMissing(state.error) || (state.data && isOver(state.data)));
}
