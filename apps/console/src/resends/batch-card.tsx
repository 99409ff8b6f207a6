import { Link } from 'wouter';
import { nowMs } from '../shared/clock.js';
import { Moment } from '../shared/moment.js';
import { ActionError } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { countText } from '../shared/time-text.js';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import { useSubscriptions } from '../subscriptions/use-subscriptions.js';
import { canContinue, isForgettable, isOver, progressOf, type ResendBatch } from './resend-batch.js';
import { useBatchWork } from './use-batch-work.js';
import { type ReplayStates, useReplays } from './use-replays.js';

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
