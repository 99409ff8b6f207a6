import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { V2Event } from '@waypost/client';
import { useClient } from '../session/session.js';
import { backedOffMs } from '../shared/back-off.js';
import { nowMs } from '../shared/clock.js';

const EVERY_MS = 500;

/** A test event of a subscription, and what became of it. */
export interface TestEvent {
  readonly send: () => void;
  readonly isSending: boolean;
  /** null: none was sent. */
  readonly eventId: string | null;
  /** null: it is not in the history so far. */
  readonly delivery: V2Event['delivery'] | null;
  readonly error: Error | null;
}

export function useTestEvent(id: string): TestEvent {
  const client = useClient();
  const queries = useQueryClient();
  // Each press sends one, after a lost response too: else an endpoint that was repaired since would be judged by the first.
  const test = useMutation({ mutationFn: () => client.sendTestEvent({ id }) });
  const eventId = test.data?.eventId ?? null;
  const { data, error } = useQuery({
    queryKey: ['test-event', eventId],
    queryFn: ({ signal }) => client.listEvents({ eventId: eventId ?? '', limit: 1 }, { signal }),
    enabled: eventId !== null,
    refetchInterval: ({ state }) => !isOver(state.data?.data[0]) && backedOffMs(EVERY_MS, nowMs() - test.submittedAt),
  });
  const status = data?.data[0]?.delivery.status;
  useEffect(() => {
    // Its health counts the test event as well.
    if (status !== undefined) void queries.invalidateQueries({ queryKey: ['subscription', id] });
  }, [queries, id, status]);
  return {
    send: () => test.mutate(),
    isSending: test.isPending,
    eventId,
    delivery: data?.data[0]?.delivery ?? null,
    error: test.error ?? error,
  };
}

function isOver(event: V2Event | undefined): boolean {
  return event !== undefined && event.delivery.status !== 'pending';
}
