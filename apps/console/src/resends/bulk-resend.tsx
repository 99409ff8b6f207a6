import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import type { Subscription, WaypostClient } from '@waypost/client';
import { datedFiltersText, type DeliveryFilters, windowOf } from '../filters/delivery-filters.js';
import { useClient, useLack } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { countText } from '../shared/time-text.js';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import { batchOf, obstacleOf, parted } from './resend-batch.js';
import { useBatches } from './use-batches.js';
import { NEVER_CACHED, useCandidates } from './use-candidates.js';

interface BulkResendProps {
  readonly filters: DeliveryFilters;
  readonly openedAtMs: number;
}

/** Asks before it sends everything again that the filters match. */
export function BulkResend(props: BulkResendProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const lack = useLack('subscriptions:write');
  return (
    <>
      <button
        type="button"
        disabled={lack !== null}
        title={lack ?? undefined}
        onClick={() => {
          setIsOpen(true);
          dialog.current?.showModal();
        }}
      >
        Resend all
      </button>
      <dialog ref={dialog} aria-labelledby="resend-title" onClose={() => setIsOpen(false)}>
        <h2 id="resend-title">Resend everything that matches</h2>
        {isOpen && <Confirmation {...props} close={() => dialog.current?.close()} />}
      </dialog>
    </>
  );
}

function Confirmation({ filters, openedAtMs, close }: BulkResendProps & { readonly close: () => void }) {
  const candidates = useCandidates(filters);
  const obstacle = obstacleOf(filters, candidates);
  const { subscriptions } = candidates;
  const counts = useCounts(filters, openedAtMs);
  const { save } = useBatches();
  const [, navigate] = useLocation();
  const [isFull, setIsFull] = useState(false);
  const matching = counts === null ? subscriptions : subscriptions.filter(({ id }) => (counts.get(id) ?? 0) > 0);
  const { active, stopped } = parted(matching);

  function begin(): void {
    const batch = batchOf({ id: crypto.randomUUID(), filters, subscriptions: active, openedAtMs, nowMs: nowMs() });
    try {
      save(batch);
    } catch {
      setIsFull(true);
      return;
    }
    navigate('/deliveries/resends', { state: { begin: batch.id } });
  }

  return (
    <>
      <p>{datedFiltersText(filters, windowOf(filters, openedAtMs))}</p>
      <p className={obstacle === null ? '' : 'problem'} role="status">
        {obstacle ?? <Extent subscriptions={active} counts={counts} />}
      </p>
      {obstacle === null && stopped.length > 0 && <LeftOut subscriptions={stopped} />}
      <p className="hint">
        The same ids and bytes are sent again, at most 500 per second and subscription. Each subscription gets one
        replay, which can be cancelled.
      </p>
      <p role="alert" className="problem">
        {isFull && NO_ROOM}
      </p>
      <div className="actions">
        <button type="button" className="primary" disabled={obstacle !== null || active.length === 0} onClick={begin}>
          Resend
        </button>
        {/* Resend is disabled at first, and would not take the focus. */}
        <button type="button" autoFocus onClick={close}>
          Cancel
        </button>
      </div>
    </>
  );
}

/** Without its record a resend could be neither followed nor cancelled, nor begun only once. */
const NO_ROOM =
  'Nothing was sent: this browser has no room to keep the progress. Forget older resends, or clear its data.';

/** Deliveries of one that gets nothing cannot be sent again until it is active. */
function LeftOut({ subscriptions }: { readonly subscriptions: readonly Subscription[] }) {
  return (
    <>
      <p>Left out, because they are not active:</p>
      <ul>
        {subscriptions.map((one) => (
          <li key={one.id} className="text">
            {subscriptionName(one)}, {one.status}
          </li>
        ))}
      </ul>
    </>
  );
}

interface ExtentProps {
  readonly subscriptions: readonly Subscription[];
  readonly counts: ReadonlyMap<string, number> | null;
}

function Extent({ subscriptions, counts }: ExtentProps) {
  const places = `${countText(subscriptions.length)} ${subscriptions.length === 1 ? 'subscription' : 'subscriptions'}`;
  if (counts === null) return <>Deliveries to {places}, as many as match when it begins.</>;
  const count = subscriptions.reduce((sum, { id }) => sum + (counts.get(id) ?? 0), 0);
  if (count === 0) return <>No delivery of an active subscription matches.</>;
  return (
    <>
      About {countText(count)} {count === 1 ? 'delivery' : 'deliveries'} to {places}. Those that match when it begins
      are sent.
    </>
  );
}

/** Counts by subscription; null: not known (yet). The figures know neither devices nor codes. */
function useCounts(filters: DeliveryFilters, openedAtMs: number): ReadonlyMap<string, number> | null {
  const client = useClient();
  const { data, error, isFetching } = useQuery({
    queryKey: ['resend-counts', filters, openedAtMs],
    queryFn: ({ signal }) => readCounts(client, filters, openedAtMs, signal),
    enabled: filters.deviceId === '' && filters.statusCode === '',
    ...NEVER_CACHED,
  });
  return error || isFetching ? null : (data ?? null);
}

const MINUTE_MS = 60_000;
const MOST_BUCKETS = 1_440;

async function readCounts(client: WaypostClient, filters: DeliveryFilters, openedAtMs: number, signal: AbortSignal) {
  const { from, to } = windowOf(filters, openedAtMs);
  const [startDate, endDate] = [new Date(from), new Date(to ?? nowMs())];
  const minutes = (endDate.getTime() - startDate.getTime()) / MINUTE_MS;
  const step = minutes < MOST_BUCKETS - 1 ? 'minute' : 'hour';
  const { data } = await client.getMetrics({ startDate, endDate, step, groupBy: 'subscription' }, { signal });
  const counts = new Map<string, number>();
  for (const { subscriptionId = '', deliveries } of data) {
    const { delivered, pending, failed, expired } = deliveries;
    const by = { delivered, pending, failed: failed + expired };
    const count = filters.status === '' ? delivered + pending + failed + expired : by[filters.status];
    counts.set(subscriptionId, (counts.get(subscriptionId) ?? 0) + count);
  }
  return counts;
}
