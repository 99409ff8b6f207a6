import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Replay } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { Moment } from '../shared/moment.js';
import { ActionError, Failure } from '../shared/states.js';
import { StatusBadge } from '../shared/status-badge.js';
import { countText } from '../shared/time-text.js';
import { ReplayForm } from './replay-form.js';

const SHOWN = 5;
const RUNNING_EVERY_MS = 1_000;

/** Sends deliveries again, and shows how far each replay is. */
export function Replays({ subscriptionId: id }: { readonly subscriptionId: string }) {
  const client = useClient();
  const queries = useQueryClient();
  const queryKey = ['replays', id];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => client.listReplays({ id, limit: SHOWN }, { signal }),
    refetchInterval: ({ state }) => (state.data?.data.some(isRunning) === true ? RUNNING_EVERY_MS : false),
  });
  const lack = useLack('subscriptions:write');
  const refresh = () => queries.invalidateQueries({ queryKey });
  const cancellation = useMutation({
    mutationFn: (replayId: string) => client.cancelReplay({ id, replayId }),
    onSuccess: refresh,
  });
  return (
    <section className="card" aria-labelledby="replays-title">
      <h2 id="replays-title">Replays</h2>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {lack === null ? <ReplayForm subscriptionId={id} onMade={refresh} /> : <p className="hint">{lack}</p>}
      <ActionError error={cancellation.error} />
      <ol className="plain">
        {data?.data.map((replay) => (
          <ReplayLine key={replay.replayId} replay={replay} cancel={() => cancellation.mutate(replay.replayId)} />
        ))}
      </ol>
    </section>
  );
}

function ReplayLine({ replay, cancel }: { readonly replay: Replay; readonly cancel: () => void }) {
  const { startDate, endDate, state, status = 'all', statusCode, progress, eventId, deviceId } = replay;
  return (
    <li className="replay">
      <StatusBadge status={state} />
      <span>
        {eventId === undefined ? (
          <>
            {status} deliveries{statusCode !== undefined && ` with code ${String(statusCode)}`} from{' '}
            <Moment iso={startDate} /> to <Moment iso={endDate} />
          </>
        ) : (
          <Link href={`/deliveries/${eventId}`}>one event</Link>
        )}
        {deviceId !== undefined && <> of {deviceId}</>}
      </span>
      <span className="number">
        {countText(progress.sent)}
        {progress.matched !== undefined && ` of ${countText(progress.matched)}`} passed to the sender
      </span>
      {progress.matched !== undefined && (
        <progress max={Math.max(1, progress.matched)} value={progress.sent} aria-label="Passed to the sender" />
      )}
      {isRunning(replay) && (
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      )}
    </li>
  );
}

function isRunning({ state }: Replay): boolean {
  return state === 'pending' || state === 'running' || state === 'cancelling';
}
