import { useQuery } from '@tanstack/react-query';
import type { Replay } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { ActionError } from '../shared/states.js';
import { useCreation } from '../shared/use-creation.js';

const PROGRESS_EVERY_MS = 1_000;

interface ResendProps {
  readonly eventId: string;
  readonly onMade: (replay: Replay) => void;
}

/** Sends one event again, and shows how far the replay is that does it. */
export function Resend({ eventId, onMade }: ResendProps) {
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
      {creation.data && <Progress key={creation.data.replayId} made={creation.data} />}
    </>
  );
}

function Progress({ made }: { readonly made: Replay }) {
  const client = useClient();
  const { subscriptionId: id, replayId } = made;
  const { data: replay, error } = useQuery({
    queryKey: ['replay', replayId],
    initialData: made,
    queryFn: ({ signal }) => client.getReplay({ id, replayId }, { signal }),
    refetchInterval: ({ state }) => (isOver(state.data) ? false : PROGRESS_EVERY_MS),
  });
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
