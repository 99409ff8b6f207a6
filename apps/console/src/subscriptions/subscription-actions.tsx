import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Subscription, SubscriptionWithHealth, UpdateSubscription } from '@waypost/client';
import { useClient, useLack } from '../session/session.js';
import { ConfirmButton } from '../shared/confirm-button.js';
import { useCreation } from '../shared/use-creation.js';
import { changed } from './changed.js';
import { EditDialog } from './edit-dialog.js';
import { RotateDialog, type Rotation } from './rotate-dialog.js';
import type { TestEvent } from './use-test-event.js';

interface ActionsProps {
  readonly subscription: Subscription;
  readonly changes: SubscriptionChanges;
  readonly test: TestEvent;
}

export function SubscriptionActions({ subscription, changes, test }: ActionsProps) {
  const { id, status } = subscription;
  const { update, rotation, deletion } = changes;
  const next = status === 'active' ? 'paused' : 'active';
  const lack = useLack('subscriptions:write');
  const canDelete = useLack('subscriptions:delete') === null;
  if (lack !== null) return <span className="hint">{lack}</span>;
  return (
    <div className="actions">
      <button type="button" onClick={() => update.mutate({ status: next })} disabled={update.isPending}>
        {next === 'paused' ? 'Pause' : 'Activate'}
      </button>
      <button type="button" onClick={test.send} disabled={test.isSending}>
        Send a test event
      </button>
      <EditDialog id={id} />
      <RotateDialog subscription={subscription} disabled={rotation.isPending} onConfirm={rotation.mutate} />
      {status !== 'disabled' && (
        <ConfirmButton
          label="Disable"
          action="Disable it"
          isDangerous
          disabled={update.isPending}
          onConfirm={() => update.mutate({ status: 'disabled' })}
        >
          Waiting deliveries end as failed, without a request; a replay can send them once it is active again. Events
          that happen while it is disabled are never sent. To send them later, pause the subscription instead.
        </ConfirmButton>
      )}
      {canDelete && (
        <ConfirmButton
          label="Delete"
          action="Delete permanently"
          isDangerous
          disabled={deletion.isPending}
          onConfirm={() => deletion.mutate()}
        >
          Nothing more is sent, not even waiting deliveries. The history of its deliveries stays.
        </ConfirmButton>
      )}
    </div>
  );
}

export type SubscriptionChanges = ReturnType<typeof useSubscriptionChanges>;

export function useSubscriptionChanges(id: string) {
  const client = useClient();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const update = useMutation({
    mutationFn: (body: UpdateSubscription) => client.updateSubscription({ id, body }),
    onSuccess: (subscription) => {
      queries.setQueryData<SubscriptionWithHealth>(['subscription', id], (before) => changed(before, subscription));
      return queries.invalidateQueries({ queryKey: ['subscriptions'] });
    },
  });
  const rotation = useCreation({
    send: ({ scope }: Rotation, { idempotencyKey }) => client.rotateSecret({ id, scope }, { idempotencyKey }),
    sent: ({ scope }) => ({ scope }),
  });
  const deletion = useMutation({
    mutationFn: () => client.deleteSubscription({ id }),
    onSuccess: () => {
      // First, since its page would read it again.
      navigate('/subscriptions');
      queries.removeQueries({ queryKey: ['subscription', id] });
      return queries.invalidateQueries({ queryKey: ['subscriptions'] });
    },
  });
  return { update, rotation, deletion, error: update.error ?? rotation.error ?? deletion.error };
}
