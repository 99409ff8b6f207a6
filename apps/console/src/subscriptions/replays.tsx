import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Replay } from '@waypost/client';
import { useClient } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { Moment } from '../shared/moment.js';
import { Failure } from '../shared/states.js';

const SHOWN = 5;
const RUNNING_EVERY_MS = 1_000;
const DAY_MS = 86_400_000;

/** Sends the failed deliveries of the last day again, and shows how far each replay is. */
export function Replays({ subscriptionId: id }: { readonly subscriptionId: string }) {
  const client = useClient();
  const queries = useQueryClient();
  const queryKey = ['replays', id];
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => client.listReplays({ id, limit: SHOWN }, { signal }),
    refetchInterval: ({ state }) => (state.data?.data.some(isRunning) === true ? RUNNING_EVERY_MS : false),
  });
  const refresh = () => queries.invalidateQueries({ queryKey });
  const creation = useMutation({
    mutationFn: () => {
      const [startDate, endDate] = [nowMs() - DAY_MS, nowMs()].map((ms) => new Date(ms).toISOString());
      return client.createReplay({
        id,
        body: { startDate: startDate ?? '', endDate: endDate ?? '', status: 'failed' },
      });
    },
    onSuccess: refresh,
  });
  const cancellation = useMutation({
    mutationFn: (replayId: string) => client.cancelReplay({ id, replayId }),
    onSuccess: refresh,
  });
  const problem = creation.error ?? cancellation.error;
  return (
    <section className="card" aria-labelledby="replays-title">
      <h2 id="replays-title">Replays</h2>
      {error && <Failure error={error} retry={() => void refetch()} />}
      <button type="button" onClick={() => creation.mutate()} disabled={creation.isPending}>
        Resend what failed in the last day
      </button>
      <p role="alert" className="problem">
        {problem?.message}
      </p>
      <ol className="plain">
        {data?.data.map((replay) => (
          <ReplayLine key={replay.replayId} replay={replay} cancel={() => cancellation.mutate(replay.replayId)} />
        ))}
      </ol>
    </section>
  );
}

function ReplayLine({ replay, cancel }: { readonly replay: Replay; readonly cancel: () => void }) {
  const { startDate, endDate, state, status = 'all', progress } = replay;
  return (
    <li>
      <strong>{state}</strong>: {status} deliveries from <Moment iso={startDate} /> to <Moment iso={endDate} />,{' '}
      {progress.sent}
      {progress.matched !== undefined && ` of ${String(progress.matched)}`} sent again{' '}
      {progress.matched !== undefined && <progress max={progress.matched} value={progress.sent} />}
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
