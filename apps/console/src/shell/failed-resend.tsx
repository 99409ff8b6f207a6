import { useMutationState } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type BegunRun, seenUpTo, unseenCount } from '../resends/failed-runs.js';

const PAGE = '/deliveries/resends';

/** A resend goes on being begun while other pages are shown: one that fails is not known of by its own page only. */
export function FailedResend() {
  const [location] = useLocation();
  const runs = useMutationState({
    filters: { mutationKey: ['resend'] },
    select: ({ mutationId, options, state }): BegunRun => ({
      mutationId,
      batchId: String(options.mutationKey?.[1]),
      status: state.status,
    }),
  });
  const [seen, setSeen] = useState(0);
  const isShown = location === PAGE;
  const seenNow = isShown ? seenUpTo(runs) : seen;
  useEffect(() => setSeen((before) => Math.max(before, seenNow)), [seenNow]);
  if (isShown || unseenCount(runs, seen) === 0) return null;
  return (
    <p className="notice bad-notice" role="alert">
      Not all replays of a resend were started. <Link href={PAGE}>Show the resends</Link>
    </p>
  );
}
