import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { newIdempotencyKey, type Subscription } from '@waypost/client';
import { datedFiltersText, type DeliveryFilters, windowOf } from '../filters/delivery-filters.js';
import { useLack } from '../session/session.js';
import { nowMs } from '../shared/clock.js';
import { countText, durationText } from '../shared/time-text.js';
import { subscriptionName } from '../subscriptions/subscription-name.js';
import { batchOf, mayMatch, obstacleOf, parted, RESENT_PER_SECOND, totalOf } from './resend-batch.js';
import { useBatches } from './use-batches.js';
import { useCandidates } from './use-candidates.js';
import { type Counts, useCounts } from './use-counts.js';

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
        <h2 id="resend-title">Resend all matching deliveries</h2>
        {isOpen && <Confirmation {...props} close={() => dialog.current?.close()} />}
      </dialog>
    </>
  );
}

function Confirmation({ filters, openedAtMs, close }: BulkResendProps & { readonly close: () => void }) {
  const candidates = useCandidates(filters);
  const obstacle = obstacleOf(filters, candidates);
  const { subscriptions } = candidates;
  const counts = useCounts(filters, openedAtMs, candidates);
  const { save } = useBatches();
  const [, navigate] = useLocation();
  const [isFull, setIsFull] = useState(false);
  const matching =
    typeof counts === 'string' ? subscriptions : subscriptions.filter(({ id }) => mayMatch(counts.get(id)));
  const { active, stopped } = parted(matching);

  function begin(): void {
    const batch = batchOf({ id: newIdempotencyKey(), filters, subscriptions: active, openedAtMs, nowMs: nowMs() });
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
        The same ids and bytes are resent, at most {RESENT_PER_SECOND} per second and subscription, and within the
        limits of each. Each subscription gets one replay, whose progress stays under “Past resends”, and which can be
        cancelled there. This tab starts them one after the other: keep it open until all of them are started.
      </p>
      <p role="alert" className="problem">
        {isFull && NO_ROOM}
      </p>
      <div className="actions">
        <button
          type="button"
          className="primary"
          disabled={obstacle !== null || counts === 'counting' || active.length === 0}
          onClick={begin}
        >
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
  'Nothing was sent: this browser has no storage left for the progress. Remove older resends, or clear its data.';

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
  readonly counts: Counts | 'counting' | 'unknown';
}

function Extent({ subscriptions, counts }: ExtentProps) {
  const places = `${countText(subscriptions.length)} ${subscriptions.length === 1 ? 'subscription' : 'subscriptions'}`;
  if (counts === 'counting') return <>Counting matching deliveries</>;
  const counted = counts === 'unknown' ? [] : subscriptions.flatMap(({ id }) => counts.get(id) ?? []);
  const { deliveries, hasMore, leastMs } = totalOf(counted);
  if (counts === 'unknown' || (deliveries === 0 && hasMore))
    return <>An unknown number of deliveries to {places}, as many as match when it begins.</>;
  if (deliveries === 0) return <>No delivery of an active subscription matches.</>;
  return (
    <>
      <strong>
        {hasMore && 'At least '}
        {countText(deliveries)} {deliveries === 1 ? 'delivery' : 'deliveries'}
      </strong>{' '}
      to {places}
      {leastMs >= 1_000 && `, which takes ${durationText(leastMs)} or longer`}. Those that match when it begins are
      sent.
    </>
  );
}
