import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Replay } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { backedOffMs } from '../shared/back-off.js';
import { nowMs } from '../shared/clock.js';
import { isMissing } from '../shared/is-missing.js';
import { ActionError } from '../shared/states.js';
import { useCreation } from '../shared/use-creation.js';

const PROGRESS_EVERY_MS = 1_000;

interface ResendProps {
  readonly eventId: string;
  readonly onMade: (replay: Replay) => void;
  /** It ended without anything to send, or is gone. */
  readonly onNothingSent: () => void;
}

/** Sends one event again, and shows how far the replay is that does it. */
export function Resend({ eventId, onMade, onNothingSent }: ResendProps) {
  const client = useClient();
  const creation = useCreation({
    send: (id: string, { idempotencyKey }) => client.resendEvent({ eventId: id }, { idempotencyKey }),
    onSuccess: onMade,
  });
  const lack = useLack('subscriptions:write');
  return (
    <>
      <button
        type="button"
        onClick={() => creation.mutate(eventId)}
        disabled={lack !== null || creation.isPending}
        title={lack ?? undefined}
      >
        Resend
      </button>
      <ActionError error={creation.error} />
      {creation.data && <Progress key={creation.data.replayId} made={creation.data} {...{ onNothingSent }} />}
    </>
  );
}

interface ProgressProps extends Pick<ResendProps, 'onNothingSent'> {
  readonly made: Replay;
}

function Progress({ made, onNothingSent }: ProgressProps) {
  const client = useClient();
  const [sinceMs] = useState(nowMs);
  const { subscriptionId: id, replayId } = made;
  const { data: replay, error } = useQuery({
    queryKey: ['replay', replayId],
    initialData: made,
    queryFn: ({ signal }) => client.getReplay({ id, replayId }, { signal }),
    refetchInterval: ({ state }) =>
      !isOver(state.data) && !isMissing(state.error) && backedOffMs(PROGRESS_EVERY_MS, nowMs() - sinceMs),
  });
  const isNothingSent = isMissing(error) || (isOver(replay) && replay.progress.sent === 0);
  useEffect(() => {
    if (isNothingSent) onNothingSent();
  }, [isNothingSent, onNothingSent]);
  if (error) return <ActionError error={error} />;
  return (
    <span role="status" className="hint">
      {`Resend ${String(replay.series)}: ${progressText(replay)}`}
    </span>
  );
}

function progressText({ state, progress }: Replay): string {
  if (state === 'completed') return progress.sent > 0 ? 'passed to the sender' : 'nothing left to send';
  return state;
}

function isOver(replay: Replay | undefined): boolean {
  return replay?.state === 'completed' || replay?.state === 'cancelled';
}
